package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.console.Browser;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/**
 * How fast the console draws, on this machine, without a graphics card. Prints figures; run by {@code
 * bin/bench-console}.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@Tag("nightly")
@Timeout(900)
class ConsoleSpeedTests {

    /** 10,000 operations on 20 queues, with 1,000 running at any time, as the text of a file. */
    private static final String RECORDING = """
            (() => {
              const ops = [];
              for (let i = 0; i < 500; i++) {
                for (let q = 0; q < 20; q++) {
                  const start = Math.floor(i / 50) * 100000 + (i % 50) * 37;
                  ops.push({ id: `gpu${q}#${i + 1}`, hw: `gpu${q}`, lane: `gpu${q}`, start, end: start + 100000,
                    wait: i >= 50 ? { [`gpu${q}`]: i - 49, [`gpu${(q + 1) % 20}`]: i - 49 } : {}, signal: { [`gpu${q}`]: i + 1 },
                    frontier: { [`gpu${q}`]: i + 1, [`gpu${(q + 1) % 20}`]: Math.max(1, i - 49) } });
                }
              }
              return JSON.stringify({ id: 'large', label: 'Large', unit: 'ns', isRecording: true, finalTick: 1002000,
                hardware: Array.from({ length: 20 }, (_, q) => ({ id: `gpu${q}`, lanes: 1 })), ops, sems: {} });
            })()""";

    /**
     * 10,000 operations on 400 timelines, each after two of the previous 500, with frontiers of up to 56 entries: 22
     * MB, as written by the command line.
     */
    private static final String FILE = """
            (() => {
              let seed = 7;
              const random = (below) => {
                seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
                return Math.floor((seed / 4294967296) * below);
              };
              const timelines = new Array(400).fill(0);
              const name = (timeline) => `timeline_${String(timeline).padStart(3, '0')}`;
              const frontiers = [];
              const ops = Array.from({ length: 10000 }, (_, n) => {
                const own = random(400);
                const frontier = new Map();
                const wait = {};
                for (const past of n === 0 ? [] : [random(500), random(500)]) {
                  const [timeline, all] = frontiers[Math.max(0, n - 1 - past)];
                  wait[name(timeline)] = Math.max(all.get(timeline), wait[name(timeline)] ?? 0);
                  all.forEach((value, each) => frontier.set(each, Math.max(value, frontier.get(each) ?? 0)));
                }
                const kept = [...frontier.keys()];
                while (kept.length > 55) frontier.delete(kept.splice(random(kept.length), 1)[0]);
                frontier.set(own, ++timelines[own]);
                frontiers.push([own, frontier]);
                const entries = [...frontier].sort((a, b) => a[0] - b[0]);
                return { id: `dispatch-${n}`, hw: `gpu-${own % 20}`, duration: 3, wait, signal: { [name(own)]: timelines[own] },
                  start: n * 3, end: n * 3 + 3, lane: `gpu-${own % 20}`,
                  frontier: Object.fromEntries(entries.map(([each, value]) => [name(each), value])), issued: n * 3,
                  entries: Object.fromEntries(entries.map(([each, value]) => [`gpu-${each % 20}/queue-${each}`, value])),
                  tainted: false, decisions: { reached: 0, elidedFifo: 1, elidedFrontier: 0, covered: 0, deviceWaits: 0, deferred: 0 } };
              });
              return JSON.stringify({ id: 'file', finalTick: 30000, ops, sems: {},
                hardware: Array.from({ length: 20 }, (_, i) => ({ id: `gpu-${i}`, lanes: 1 })) });
            })()""";

    @LocalServerPort
    private int port;

    @Test
    void opensALargeFileWithLittleWork() {
        try (Browser browser = Browser.start()) {
            browser.open("http://localhost:" + port + "/iree/");
            browser.until("document.getElementById('now').textContent !== ''");
            browser.eval("void (window.file = new File([" + FILE + "], 'run.json'))");
            double before = browser.processorMillis();
            browser.eval(
                    "(() => { const dataTransfer = new DataTransfer(); dataTransfer.items.add(window.file);"
                            + " document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })); })()");
            browser.until("document.getElementById('summary').textContent.startsWith('10')");
            browser.await("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
            double spent = browser.processorMillis() - before;
            System.out.printf(
                    "console: a file of 10,000 operations and %.0f MB opened with %.0f ms of processor time%n",
                    ((Number) browser.eval("window.file.size")).doubleValue() / 1e6, spent);
            browser.assertNoErrors();
            assertThat(spent).as("milliseconds of processor time").isLessThan(1000);
        }
    }

    @Test
    void opensTenThousandOperationsAndDrawsAThousandInFlight() {
        try (Browser browser = Browser.start()) {
            browser.open("http://localhost:" + port + "/iree/");
            browser.until("document.getElementById('now').textContent !== ''");
            browser.eval("void (window.recording = " + RECORDING + ")");
            Number opened = (Number) browser.await(
                    "await (async () => { const { checkRun } = await import('./model/run-check.js'); const begin = performance.now();"
                            + " window.ireeConsole.explore.open(checkRun(JSON.parse(window.recording)));"
                            + " await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
                            + " return performance.now() - begin; })()");
            Map<?, ?> frames = (Map<?, ?>) browser.await("""
                    await (async () => {
                      const { explore } = window.ireeConsole;
                      const { schedule, transport, lanes } = explore;
                      transport.seek(schedule.finalTick / 2);
                      const inFlight = schedule.operations.filter((op) => schedule.stateOf(op, transport.at) === 'running').length;
                      const times = [];
                      const work = [];
                      const moved = transport.moved;
                      const draw = lanes.draw;
                      let spent = 0;
                      transport.moved = (at) => { const begin = performance.now(); moved(at); spent += performance.now() - begin; };
                      lanes.draw = () => {
                        if (lanes.frame === 0) lanes.frame = requestAnimationFrame(() => {
                          const begin = performance.now(); lanes.drawNow(); work.push(spent + performance.now() - begin); spent = 0; });
                      };
                      transport.speed = 1;
                      transport.play();
                      await new Promise((done) => {
                        const begin = performance.now();
                        const frame = (now) => { times.push(now); if (now - begin < 6000) requestAnimationFrame(frame); else done(); };
                        requestAnimationFrame(frame);
                      });
                      transport.pause();
                      transport.moved = moved;
                      lanes.draw = draw;
                      const steps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
                      work.sort((a, b) => a - b);
                      const part = (list, p) => list[Math.min(list.length - 1, Math.floor(list.length * p))];
                      return { inFlight, rate: 1000 * steps.length / (times[times.length - 1] - times[0]),
                        median: part(work, 0.5), most: part(work, 0.95), late: steps.filter((step) => step > 25).length, frames: steps.length };
                    })()""");
            System.out.printf(
                    "console: 10,000 operations opened in %.0f ms; %s in flight drawn at %.1f frames a second, %.1f ms of script"
                            + " a frame (median; 95 %%: %.1f ms), %s of %s frames late%n",
                    opened.doubleValue(),
                    frames.get("inFlight"),
                    ((Number) frames.get("rate")).doubleValue(),
                    ((Number) frames.get("median")).doubleValue(),
                    ((Number) frames.get("most")).doubleValue(),
                    frames.get("late"),
                    frames.get("frames"));
            browser.picture("explore-large");
            browser.assertNoErrors();
            assertThat(frames.get("inFlight")).isEqualTo(1000L);
            assertThat(opened.doubleValue()).isLessThan(2000);
        }
    }
}
