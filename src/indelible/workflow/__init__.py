"""What may happen next: targets, the exact change, receipts, rounds, scars. Decides, and stores nothing."""
