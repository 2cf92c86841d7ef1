console.log("no default");
