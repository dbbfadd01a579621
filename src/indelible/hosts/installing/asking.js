// Written by 'indelible hooks'; 'indelible hooks uninstall --host @HOST@' takes it away. Made anew at each install.
import { spawn } from "node:child_process"

const PROGRAM = @PROGRAM@
const HOST = "@HOST@"

// Asks the hook program once: one JSON document in, one out. Whatever else happens is an error.
function ask(event, document, seconds) {
  return new Promise((resolve, reject) => {
    const out = [], err = []
    const child = spawn(PROGRAM, [HOST, event], { cwd: document.cwd, stdio: "pipe", windowsHide: true })
    const fail = (why) => { clearTimeout(timer); reject(new Error(`indelible-hook ${why}: 'indelible hooks status' says more`)) }
    const timer = setTimeout(() => { child.kill("SIGKILL"); fail(`did not answer within ${seconds} s`) }, seconds * 1000)
    child.on("error", (error) => fail(`cannot be run (${error.message})`))
    child.stdout.on("data", (data) => out.push(data))
    child.stderr.on("data", (data) => err.push(data))
    child.stdin.on("error", () => {}) // it may answer before it has read all
    child.on("close", (code) => {
      clearTimeout(timer)
      try {
        const answer = JSON.parse(Buffer.concat(out).toString("utf8"))
        if (answer === null || typeof answer !== "object" || Array.isArray(answer)) throw new Error("no object")
        if (code !== 0 && !answer.deny) throw new Error(`exit ${code}`)
        resolve(answer)
      } catch (error) {
        fail(`gave no answer (exit ${code}) ${Buffer.concat(err).toString("utf8").trim().slice(0, 500)}`)
      }
    })
    child.stdin.end(JSON.stringify(document))
  })
}
