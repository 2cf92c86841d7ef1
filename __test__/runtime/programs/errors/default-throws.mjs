export default () => {
  throw new RangeError("from default");
};
