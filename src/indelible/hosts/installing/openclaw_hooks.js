
const handlers = {
  "start": (event, _matcher, seconds) => async (about, context) => {
    try {
      const answer = await ask(event, documentOf(about, context), seconds)
      return answer.context ? { prependContext: answer.context } : undefined
    } catch (error) {
      return { prependContext: `Indelible: memory was NOT loaded (${error.message}). Run 'indelible boot' before anything else.` }
    }
  },
  "before-tool": (event, matcher, seconds) => async (about, context) => {
    if (matcher && !new RegExp(matcher).test(about.toolName)) return undefined
    try {
      const document = { ...documentOf(about, context), tool: about.toolName, args: about.params }
      const answer = await ask(event, document, seconds)
      return answer.deny ? { block: true, blockReason: answer.deny } : undefined
    } catch (error) {
      return { block: true, blockReason: error.message } // what cannot be asked is denied
    }
  },
  "before-compaction": (event, _matcher, seconds) => async (about, context) => {
    await ask(event, documentOf(about, context), seconds).catch(() => undefined)
  },
}

function documentOf(about, context) {
  return { sessionID: context?.sessionId ?? context?.sessionKey ?? "", cwd: context?.workspaceDir ?? process.cwd(), source: "startup" }
}

export default {
  id: "indelible",
  name: "Indelible",
  description: "Memory that is verified before it is believed: the briefing, and the guard before writes.",
  register(api) {
    for (const { name, purpose, matcher, seconds } of EVENTS)
      api.on(name, handlers[purpose](name, matcher, seconds), { priority: 100, timeoutMs: (seconds + 5) * 1000 })
  },
}
