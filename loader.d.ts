/** This machine, as `platformName` wants it. */
export function thisMachine(): { platform: string; arch: string; libc?: string };

/** A platform as napi-rs names it: `linux-x64-gnu`. */
export function platformName(machine: { platform: string; arch: string; libc?: string }): string;
