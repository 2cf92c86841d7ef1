export default { not: "a function", list: [1] };
