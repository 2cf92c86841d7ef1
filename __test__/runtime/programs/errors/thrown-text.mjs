throw "a text";
