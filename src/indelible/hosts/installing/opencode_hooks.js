
const contexts = new Map() // session to the answer that its context has; OpenCode builds the system prompt at every call
const compacted = new Set()

export const Indelible = async ({ client, directory }) => {
  const warn = (message) => {
    try {
      Promise.resolve(client?.app?.log?.({ body: { service: "indelible", level: "warn", message } })).catch(() => {})
    } catch {}
  }
  const about = (input) => ({ sessionID: input.sessionID ?? "", cwd: directory })
  const handlers = {
    "start": (event, _matcher, seconds) => async (input, output) => {
      const id = input.sessionID ?? ""
      if (!contexts.has(id)) {
        const source = compacted.delete(id) ? "compact" : "startup"
        contexts.set(id, ask(event, { ...about(input), source }, seconds))
      }
      try {
        const answer = await contexts.get(id)
        if (answer.warning) warn(answer.warning)
        if (answer.context) output.system.push(answer.context)
      } catch (error) {
        contexts.delete(id)
        warn(error.message)
        output.system.push(`Indelible: memory was NOT loaded (${error.message}). Run 'indelible boot' before anything else.`)
      }
    },
    "before-tool": (event, matcher, seconds) => async (input, output) => {
      if (matcher && !new RegExp(matcher).test(input.tool)) return
      const document = { ...about(input), tool: input.tool, callID: input.callID, args: output.args }
      const answer = await ask(event, document, seconds) // what cannot be asked is denied: the error ends the call
      if (answer.warning) warn(answer.warning)
      if (answer.deny) throw new Error(answer.deny)
    },
    "after-tool": (event, matcher, seconds) => async (input, output) => {
      if (matcher && !new RegExp(matcher).test(input.tool)) return
      try {
        const answer = await ask(event, { ...about(input), tool: input.tool, callID: input.callID, args: input.args }, seconds)
        if (answer.warning) warn(answer.warning)
        if (answer.context) output.output = `${output.output ?? ""}\n\n${answer.context}`
      } catch (error) { warn(error.message) }
    },
    "before-compaction": (event, _matcher, seconds) => async (input, output) => {
      try {
        const answer = await ask(event, about(input), seconds)
        if (answer.warning) warn(answer.warning)
        if (answer.context) output.context.push(answer.context)
      } catch (error) { warn(error.message) }
    },
  }
  const forget = ({ event }) => {
    if (event?.type !== "session.compacted") return
    const id = event.properties?.sessionID ?? ""
    contexts.delete(id)
    compacted.add(id)
  }
  const hooks = { event: async (input) => forget(input) }
  for (const { name, purpose, matcher, seconds } of EVENTS) hooks[name] = handlers[purpose](name, matcher, seconds)
  return hooks
}
