package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/** How fast the console draws, on this machine, without a graphics card. Prints figures; {@code bin/bench-console} runs it. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@Tag("nightly")
@Timeout(900)
class ConsoleSpeedTests {

    /** 10,000 operations on 20 queues, of which 1,000 run at any time, as the text of a file. */
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

    @LocalServerPort
    private int port;

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
