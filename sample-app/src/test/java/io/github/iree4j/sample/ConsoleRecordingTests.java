package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import java.util.List;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.openqa.selenium.Keys;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;

/** The console in a browser: recordings. */
@TestPropertySource(properties = "iree.recorder.enabled=true")
@DirtiesContext // a process has one recorder
@TestMethodOrder(OrderAnnotation.class)
class ConsoleRecordingTests extends ConsoleTests {

    @Autowired
    private IreeRuntime runtime;

    @Test
    void opensWhatWasRecordedUnderLoadInExplore() {
        openLive();
        try (Load _ = new Load()) {
            browser.until("window.ireeConsole.live.polls > 4");
        }
        browser.click("#live-export");
        browser.until("document.title.startsWith('Explore')");
        assertThat(browser.text("#description")).startsWith("What the flight recorder has");
        assertThat((Long) browser.eval("window.ireeConsole.explore.schedule.operations.length"))
                .isGreaterThan(20);
        assertThat(browser.text("#lanes-box")).contains("local/0");
        browser.type(Keys.END, "p");
        assertThat(browser.text("#operation-box")).contains("local/0").contains("digits");
        assertThat(browser.text("#memory-card")).contains("By").contains("digits");
        assertThat(texts(".invariants .broken")).isEmpty();
        assertThat(browser.text(".invariants"))
                .as("no recording could break it")
                .contains("Never optimistic")
                .doesNotContain("Nothing hangs");
        browser.picture("explore-recording-sample");
        browser.assertAccessible("a recording of the sample");
    }

    @Test
    @Order(1) // while the recorder holds few operations: a scenario has at most 4,096, here of two copies
    void aRecordingRunsInTheLaboratoryWhereItCanBeDisturbed() throws Exception {
        readDigits(5);
        openLive();
        browser.click("#live-export");
        browser.until("document.title.startsWith('Explore')");
        browser.click("#rerun");
        browser.until("document.getElementById('scenario').value === 'recorded'");
        String address = browser.address();
        assertThat(address).contains("scenario=recorded", "until=", "recorder=20");
        long operations = (Long) browser.eval("window.ireeConsole.explore.schedule.operations.length");
        assertThat(operations).isGreaterThan(5);
        assertThat(texts(".invariants .broken")).isEmpty();
        browser.click("#ways");
        browser.until("document.querySelectorAll('.way canvas').length === 3");
        assertThat(browser.find(".way canvas").getDomAttribute("aria-label")).containsPattern("until [\\d.]+ m?s\\.");
        browser.click("#ways");
        slide("width", 2);
        browser.until("window.ireeConsole.explore.schedule.operations.length === " + 2 * operations);
        browser.eval("document.activeElement.blur()");
        browser.type("k");
        browser.until("window.ireeConsole.explore.schedule.operations.some((op) => op.failure !== '')");
        browser.type(Keys.END);
        assertThat(texts(".invariants .broken")).isEmpty();
        browser.picture("explore-recorded-in-the-laboratory");

        browser.open(address.replace("recorder=20", "recorder=19"));
        browser.until("document.getElementById('notice')?.textContent.includes('the application was restarted')");
        assertThat(browser.text("#summary")).isEmpty();
        browser.open(address.replaceFirst("recorder=[^&]*&", ""));
        browser.until("document.getElementById('notice')?.textContent.includes('recorder')");
        browser.discardErrors(); // the browser reports each status
    }

    /** Random blocks, most of them brief, some of them released at once; the truth is counted at each moment. */
    @Test
    void memoryHeldOneAfterTheOtherIsNotAddedUp() {
        openLive();
        List<?> wrong = (List<?>) browser.await("""
                await import(new URL('model/memory.js', document.baseURI)).then(({ bytesOverTime }) => {
                  let state = 7;
                  const random = (n) => (state = (state * 48271) % 2147483647) % n;
                  const wrong = [];
                  for (let run = 0; run < 60; run++) {
                    const end = 1 + random(100000);
                    const blocks = Array.from({ length: 1 + random(500) }, () => {
                      const start = random(end + 1);
                      const brief = random(3) > 0 ? random(4) : random(end);
                      return { pool: 'p', consumer: 'c' + random(3), length: 1 + random(1000), start, end: start + brief > end ? null : start + brief };
                    });
                    const heldAt = (time, by) => blocks
                      .filter((each) => (by === undefined || each.consumer === by) && each.start <= time && (each.end === null || each.end > time))
                      .reduce((sum, each) => sum + each.length, 0);
                    const { series } = bytesOverTime(blocks.filter((each) => each.end !== each.start), end, 'consumer');
                    const lasting = (by) => Math.max(0, ...blocks.filter((each) => each.end !== each.start).map((each) => heldAt(each.start, by)));
                    const shown = Math.max(...series[0].values.map((_, i) => series.reduce((sum, each) => sum + each.values[i], 0)));
                    if (shown !== lasting()) wrong.push(`run ${run}: ${shown} shown, ${lasting()} held`);
                    for (const { name, most } of series) if (most !== lasting(name)) wrong.push(`run ${run}: ${most} of ${name}, ${lasting(name)} held`);
                    const least = bytesOverTime(blocks, end, 'consumer').series.reduce((sum, each) => sum + each.values[400], 0);
                    if (least < heldAt(end)) wrong.push(`run ${run}: ${least} at the end, ${heldAt(end)} held`);
                  }
                  return wrong;
                })""");
        assertThat(wrong).asString().isEqualTo("[]");
    }

    /** The records of the first operation have made room; the last page lists it as open. */
    @Test
    void anOperationThatHangsIsShownHoweverOldItIs() {
        openLive();
        List<?> shown = (List<?>) browser.await("""
                await Promise.all(['recording', 'schedule'].map((each) => import(new URL(`model/${each}.js`, document.baseURI)))).then(([{ recordingRun }, { Schedule }]) => {
                  const fill = (operation, value) => ({ operation, queue: 'q', name: 'fill', call: 0, function: '', waits: [], signals: [{ timeline: 1, value }] });
                  const page = { start: '2026-11-26T00:00:00Z', cursor: 20, completeFrom: 10, queues: [{ axis: 'q', name: 'local/0', stream: false }], pools: [], events: [
                    { number: 8, time: 5e9, kind: 'submitted', values: fill(2, 1) },
                    { number: 12, time: 6e9, kind: 'submitted', values: fill(3, 2) },
                    { number: 13, time: 6.1e9, kind: 'over', values: { operation: 3, status: 'OK', message: '', frontier: {} } },
                  ], open: [
                    { submitted: 1e9, values: { operation: 1, queue: 'q', name: 'barrier', call: 7, function: 'm.f', waits: [{ timeline: 9, value: 1 }], signals: [] } },
                  ], timelines: [{ timeline: 9, name: 'upload-finished' }], calls: [
                    { call: 8, program: 'p', function: 'm.g', state: 'RUNNING', age: 1e9, waits: [] },
                    { call: 7, program: 'p', function: 'm.f', state: 'BEFORE_INPUTS', age: 5e9, waits: [{ timeline: 9, value: 1 }] },
                  ] };
                  const run = recordingRun([page]);
                  const schedule = new Schedule(run);
                  return schedule.operations.map((op) => `${op.id} ${schedule.stateOf(op, schedule.finalTick)} ${op.note}`.trim())
                    .concat(Object.keys(run.ops[1].wait), run.description.split('left out. ')[1]);
                })""");
        assertThat(shown)
                .asString()
                .isEqualTo(
                        "[fill #3 done, barrier #1 waiting call 7 of m.f, submitted 5.0 s before, upload-finished,"
                                + " 2 calls were in progress, the oldest for 5.0 s: m.f of p, before inputs, waits for upload-finished ≥ 1.]");
    }

    /** The recorder says what had not ended; the page does not guess. */
    @Test
    void anOperationWithoutAnEndThatTheRecorderDoesNotCallOpenIsLeftOut() {
        openLive();
        Object shown = browser.await("""
                await import(new URL('model/recording.js', document.baseURI)).then(({ recordingRun }) => {
                  const fill = (operation, value) => ({ operation, queue: 'q', name: 'fill', call: 0, function: '', waits: [], signals: [{ timeline: 1, value }] });
                  const page = { start: '', cursor: 20, completeFrom: 0, queues: [{ axis: 'q', name: 'local/0', stream: false }], pools: [], events: [
                    { number: 1, time: 1, kind: 'submitted', values: fill(1, 1) },
                    { number: 2, time: 2, kind: 'submitted', values: fill(2, 2) },
                    { number: 3, time: 3, kind: 'submitted', values: fill(3, 3) },
                    { number: 4, time: 4, kind: 'over', values: { operation: 2, status: 'OK', message: '', frontier: {} } },
                  ], open: [{ submitted: 1, values: fill(1, 1) }], timelines: [], calls: [] };
                  const run = recordingRun([page]);
                  return `${run.ops.map((op) => op.id).join()} ${run.description}`;
                })""");
        assertThat(shown)
                .asString()
                .startsWith("fill #1,fill #2 ")
                .contains("Left out: 1 of which the recorder does not know the end.");
    }

    @Test
    void whatHangsAtTheEndOfARecordingIsACard() throws Exception {
        readDigits(1);
        try (Timeline timeline = runtime.createTimeline("upload-finished");
                Fence never = timeline.at(1)) {
            runtime.device().queue(0).barrier(never, null, 0);
            openLive();
            browser.click("#live-export");
            browser.until("document.title.startsWith('Explore')");
            assertThat(browser.text("#explore-problems"))
                    .contains("unsignalled fence", "'upload-finished' at 1", "What to do:");
            assertThat(texts("#explore-problems .missing")).hasSize(1);
            browser.picture("explore-recording-hang");
            browser.assertAccessible("a recording of a hang");
            timeline.semaphore().signal(1);
        }
        pick("fork-join");
        assertThat(browser.find("#explore-problems").isDisplayed()).isFalse();
    }

    /** A recorder may have more than a page can show: why nothing moves now is at the end. */
    @Test
    void ofALongRecordingTheLatestRecordsAreRead() {
        openLive();
        browser.eval("""
                (() => {
                  const { fetch } = window;
                  window.asked = [];
                  window.fetch = async (url, options) => {
                    if (!String(url).includes('/recording?')) return fetch(url, options);
                    const since = Number(new URL(url, location.href).searchParams.get('since'));
                    window.asked.push(since);
                    const cursor = Math.max(since, Math.min(since + 40_000, 250_000));
                    const page = { cursor: since > 250_000 ? 250_000 : cursor, start: '', completeFrom: 3, more: cursor < 250_000, queues: [], pools: [], events: [] };
                    if (window.restarted && since > 150_000) page.start = 'later';
                    return new Response(JSON.stringify(page), { headers: { 'Content-Type': 'application/json' } });
                  };
                })()""");
        browser.click("#live-export");
        browser.until("document.title.startsWith('Explore')");
        assertThat(browser.eval("window.asked.slice(1)")).isEqualTo(List.of(150_000L, 190_000L, 230_000L));

        browser.type("2");
        browser.until("document.title.startsWith('Live')");
        browser.eval("void (window.restarted = true)");
        browser.click("#live-export");
        browser.until("document.getElementById('notice').textContent.includes('was restarted while')");
    }

    @Test
    void liveShowsTheLifeOfABlock() throws Exception {
        readDigits(20);
        openLive();
        browser.click("#live-memory details summary");
        browser.until("document.querySelectorAll('#live-memory .blocks button').length > 0");
        browser.click("#live-memory .blocks button");
        browser.until("document.querySelector('#live-memory .life h3') !== null");
        assertThat(browser.text("#live-memory .life"))
                .contains("digits")
                .contains("Allocated at")
                .contains("Before that")
                .contains("to be used again");
        browser.picture("live-block");
        browser.assertAccessible("the life of a block in Live");
    }

    /** Two operations of a stream, and bytes that the second reuses because it runs after the first. */
    private static final String PAGES = """
            [{cursor: 12, start: '2026-11-23T02:00:00Z', completeFrom: 0, more: false,
              queues: [{axis: 'queue:0@m0.s7', name: 'gpu/0', stream: true}], pools: [{name: 'transient'}],
              events: [
                {number: 0, time: 100, kind: 'submitted', values: {operation: 1, queue: 'queue:0@m0.s7', name: 'fill', call: 5,
                  function: 'digits.classify', waits: [], signals: [{timeline: 3, value: 1}]}},
                {number: 1, time: 110, kind: 'reserved', values: {reservation: 1, pool: 0, size: 60, length: 64, slab: 0, offset: 0,
                  reuse: 'UNUSED', persistent: false, consumer: 'digits', call: 5, function: 'digits.classify', death: {}}},
                {number: 2, time: 120, kind: 'issued', values: {operation: 1, reservation: 1, frontier: {'queue:0@m0.s7': 1}}},
                {number: 3, time: 130, kind: 'submitted', values: {operation: 2, queue: 'queue:0@m0.s7', name: 'execute', call: 6,
                  function: 'digits.classify', waits: [{timeline: 3, value: 1}], signals: [{timeline: 3, value: 2}]}},
                {number: 4, time: 140, kind: 'decided', values: {operation: 2, decisions: [{decision: 'ELIDED_FIFO', value: 1}]}},
                {number: 5, time: 150, kind: 'issued', values: {operation: 2, reservation: 0, frontier: {'queue:0@m0.s7': 2}}},
                {number: 6, time: 200, kind: 'completed', values: {operation: 1}},
                {number: 7, time: 210, kind: 'over', values: {operation: 1, status: 'OK', message: '', frontier: {'queue:0@m0.s7': 1}}},
                {number: 8, time: 220, kind: 'released', values: {reservation: 1, death: {'queue:0@m0.s7': 1}}},
                {number: 9, time: 230, kind: 'reserved', values: {reservation: 2, pool: 0, size: 32, length: 32, slab: 0, offset: 0,
                  reuse: 'KNOWN_BEFORE', persistent: false, consumer: 'digits', call: 6, function: 'digits.classify',
                  death: {'queue:0@m0.s7': 1}}},
                {number: 10, time: 300, kind: 'completed', values: {operation: 2}},
                {number: 11, time: 310, kind: 'over', values: {operation: 2, status: 'INTERNAL', message: 'kernel trapped',
                  frontier: {'queue:0@m0.s7': 2}}}]}]""";

    @Test
    void queuesOfARecordingAreUnderTheirMachines() {
        open("");
        String pages = PAGES.replace(
                "queues: [{axis: 'queue:0@m0.s7', name: 'gpu/0', stream: true}]",
                "queues: [{axis: 'queue:1@m0.s7', name: 'local@m2.s3/0', machine: 2, stream: true},"
                        + " {axis: 'queue:0@m0.s7', name: 'gpu/0', machine: 0, stream: true},"
                        + " {axis: 'queue:2@m0.s7', name: 'local@m2.s3/1', machine: 2, stream: true}]");
        browser.await("await (async () => { const { recordingRun } = await import('./model/recording.js');"
                + " window.ireeConsole.explore.open(recordingRun(" + pages + ")); return true; })()");
        assertThat(texts(".lane-names > *"))
                .containsExactly("machine 2", "local@m2.s3/0", "local@m2.s3/1", "machine 0", "gpu/0");
        assertThat(browser.text("#summary")).startsWith("2 operations, 3 lanes");
        browser.picture("explore-recording-machines");
        browser.assertAccessible("a recording of two machines");
    }

    @Test
    void aRecordingShowsMemoryAndWhyABlockWasReused() {
        open("");
        browser.await("await (async () => { const { recordingRun } = await import('./model/recording.js');"
                + " window.ireeConsole.explore.open(recordingRun(" + PAGES + ")); return true; })()");
        assertThat(browser.text("#summary")).startsWith("2 operations, 1 lane");
        browser.eval("window.ireeConsole.explore.transport.seek(150)");
        assertThat(browser.text("#memory-card"))
                .contains("32 B in 1 block at 150 ns")
                .contains("digits");
        browser.click("#memory-box .blocks button");
        assertThat(browser.text(".life"))
                .contains("this one runs after its last users")
                .contains("gpu/0\u200a:\u200a1")
                .contains("64 B of digits.classify");
        browser.type("n", "n");
        // The stream began it when its predecessor had ended, though it was issued before.
        assertThat(browser.text("#operation-box"))
                .contains("execute #2")
                .contains("100 ns to 200 ns")
                .contains("call 6 of digits.classify")
                .contains("kernel trapped")
                .contains("1 wait implied by the order of its queue");
        assertThat(texts(".invariants .broken")).isEmpty();
        browser.picture("explore-recording");
        browser.assertAccessible("a recording");
    }
}
