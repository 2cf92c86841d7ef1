export default async () => {
  await null;
  throw Object.assign(new Error("rejected default"), { code: "E" });
};
