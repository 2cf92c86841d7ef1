class Mine extends TypeError {}
throw new Mine("unnamed");
