// Going through the rings: the arrow keys follow the shifts from board to board, and it is said where one is.
"use strict";
const boards = new Map([...document.querySelectorAll(".ring a[id]")].map((board) => [board.id, board]));

function stand(board) {
  const said = board.closest(".ring").querySelector(".steps");
  for (const other of board.closest(".ring").querySelectorAll("a[aria-current]")) other.removeAttribute("aria-current");
  board.setAttribute("aria-current", "true");
  const ways = ["right", "left", "up", "down"].filter((way) => board.dataset[way]);
  said.replaceChildren(`${board.getAttribute("aria-label")}. `);
  for (const way of ways) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${way} to ${board.dataset[way]}`;
    button.addEventListener("click", () => go(board, way));
    said.append(button);
  }
}

function go(board, way) {
  const next = boards.get(`s${board.dataset[way]}`);
  if (!next) return;
  stand(next);
  next.focus();
}

for (const board of boards.values()) {
  board.addEventListener("focus", () => stand(board));
  board.addEventListener("click", (event) => {
    event.preventDefault();
    board.focus();
    stand(board);
  });
  board.addEventListener("keydown", (event) => {
    const way = event.key.replace("Arrow", "").toLowerCase();
    if (!board.dataset[way]) return;
    event.preventDefault();
    go(board, way);
  });
}
