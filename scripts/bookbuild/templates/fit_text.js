// Evaluated in a browser: reduces the font size of a card until its text fits.
() => {
  const [main, section] = document.querySelectorAll("main, section");
  const root = document.documentElement.style;
  for (let scale = 1; scale >= 0.4; scale -= 0.02) {
    root.setProperty("--scale", scale);
    if (main.scrollHeight <= main.clientHeight && section.scrollWidth <= section.clientWidth) {
      return scale;
    }
  }
  return 0;
};
