// The cases in the order of the table.

import * as addon from "./addon.mjs";
import * as delay from "./delay.mjs";
import * as directories from "./directories.mjs";
import * as opening from "./opening.mjs";
import * as scale from "./scale.mjs";
import * as search from "./search.mjs";
import * as small from "./small.mjs";
import * as streams from "./streams.mjs";

export const cases = [small, directories, streams, search, opening, scale, delay, addon];
