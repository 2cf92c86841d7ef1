export default new Promise((resolve) => setTimeout(resolve, 1, { later: true }));
