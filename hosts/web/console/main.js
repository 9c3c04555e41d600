import { App } from "./app.js";

const root = document.getElementById("app");
if (root !== null) void new App(root).start();
