function outer() {
  return inner();
}
function inner() {
  return null.field;
}
outer();
