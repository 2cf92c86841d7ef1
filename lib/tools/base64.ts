// Bytes of media as the libraries want them.

/** The bytes in base64. */
export function base64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
