import { Workspace } from "carrel";

const workspace = new Workspace({ storage: "agent.db" });
await workspace.fs.writeFile("/workspace/note.txt", "hello from a tarball");
await workspace.close();

const reopened = new Workspace({ storage: "agent.db" });
console.log(await reopened.fs.readFile("/workspace/note.txt", "utf8"));
await reopened.close();
