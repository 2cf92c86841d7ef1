class Money {
  constructor(amount) {
    this.amount = amount;
  }
  toJSON() {
    return { money: this.amount };
  }
}
export default () => JSON.parse(JSON.stringify({ a: new Money(5), when: new Date(0) }));
