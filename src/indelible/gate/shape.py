def signs(text: str) -> tuple[str, ...]:
    return ()
