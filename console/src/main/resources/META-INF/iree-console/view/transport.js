// @ts-check
// The position in time: steps, plays, and tells who shows it.

const PLAY = 14; // seconds that a whole run takes, about
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

export class Transport {
  /** @param {(at: number) => void} moved called with each new position */
  constructor(moved) {
    this.moved = moved;
    this.at = 0;
    this.end = 1;
    this.until = Infinity; // where it stops before the end
    this.frame = 0;
    this.playing = false;
    this.speed = 1;
    this.changed = () => {};
    this.schedule = null;
  }

  show(schedule, at) {
    this.schedule = schedule;
    this.end = schedule.finalTick;
    this.until = Infinity;
    this.seek(Math.min(at, this.end));
  }

  /** Units of the schedule per second. */
  get rate() {
    const natural = this.schedule?.isFine ? this.end / PLAY : Math.max(1, Math.min(4, this.end / PLAY));
    return natural * this.speed;
  }

  seek(at) {
    this.until = Infinity;
    this.at = Math.max(0, Math.min(this.end, at));
    this.moved(this.at);
    this.changed();
  }

  /** To the next or previous tick; in recordings, event. */
  step(direction) {
    this.pause();
    if (this.schedule?.isFine) {
      this.seek(direction > 0 ? this.schedule.nextEvent(this.at) : this.schedule.previousEvent(this.at));
    } else {
      this.seek(direction > 0 ? Math.floor(this.at) + 1 : Math.ceil(this.at) - 1);
    }
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** @param {number} until where it stops, unless it is moved before */
  play(until = Infinity) {
    if (this.playing) return;
    this.until = until;
    if (this.at >= Math.min(this.until, this.end)) this.at = 0;
    this.playing = true;
    let last = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      // A page that was hidden goes on where it was.
      this.at = Math.min(this.until, this.end, this.at + Math.min(0.25, (now - last) / 1000) * this.rate);
      last = now;
      this.moved(this.at);
      if (this.at >= Math.min(this.until, this.end)) this.pause();
      else this.frame = requestAnimationFrame(frame);
    };
    this.frame = requestAnimationFrame(frame);
    this.changed();
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.frame); // or it would go on beside the next one
    this.changed();
  }

  faster(direction) {
    const at = SPEEDS.indexOf(this.speed) + direction;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    this.changed();
  }
}
