const a = { name: "a" };
a.self = a;
a.list = [a, { a }];
const b = { a, map: new Map([[a, a]]) };
a.b = b;
console.log(a);
console.log(b, [a, b]);
class Node {
  constructor(value) {
    this.value = value;
    this.children = [];
  }
  add(child) {
    child.parent = this;
    this.children.push(child);
    return this;
  }
}
console.log(new Node("root").add(new Node("x").add(new Node("y"))));
const set = new Set();
set.add(set);
console.log(set);
