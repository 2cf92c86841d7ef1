Promise.reject("just text");
