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
    void opensARecordingUnderLoadInExplore() {
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
        assertThat(texts(".invariants b"))
                .as("no recording could break the others")
                .containsExactly("Failures are passed on");
        assertThat(browser.text("#operation-box"))
                .contains("No known order with")
                .doesNotContain("Unordered with");
        browser.picture("explore-recording-sample");
        browser.assertAccessible("a recording of the sample");
    }

    @Test
    @Order(1) // while the recorder holds few operations: a scenario has at most 4,096, here of two copies
    void aRecordingRunsAndCanBeDisturbedInTheLaboratory() throws Exception {
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

    /** Random blocks, most of them brief, some released at once; the truth is counted at each moment. */
    @Test
    void memoryHeldInARowIsNotAddedUp() {
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

    @Test
    void hangingWorkAtTheEndOfARecordingIsACard() throws Exception {
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

    /** Answered polls say nothing about a missing answer. */
    @Test
    void anUnreadableRecordingIsReportedUntilTheNextClick() throws Exception {
        readDigits(1);
        openLive();
        browser.eval("""
                (() => {
                  const { fetch } = window;
                  window.refuse = true;
                  window.fetch = async (url, options) => (window.refuse && String(url).includes('/export/run')
                    ? new Response(JSON.stringify({ detail: 'two others are read' }), { status: 503 })
                    : fetch(url, options));
                })()""");
        browser.click("#live-export");
        browser.until("document.getElementById('notice').textContent === 'two others are read'");
        browser.eval("void (window.before = window.ireeConsole.live.polls)");
        browser.until("window.ireeConsole.live.polls > window.before + 2");
        assertThat(browser.text("#notice")).isEqualTo("two others are read");
        browser.picture("live-not-opened");
        browser.eval("void (window.refuse = false)");
        browser.click("#live-export");
        browser.until("document.title.startsWith('Explore')");
        assertThat(browser.find("#notice").isDisplayed()).isFalse();
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

    /** Two operations of a stream, with bytes reused by the second as it runs after the first. */
    private static final String RUN = """
            {"id": "recording", "label": "A recording", "description": "", "unit": "ns", "isRecording": true, "finalTick": 210,
             "records": {"recorder": "2026-11-23T02:00:00Z", "since": 0, "until": 12},
             "hardware": [{"id": "gpu/0", "lanes": 1, "machine": ""}],
             "ops": [
               {"id": "fill #1", "hw": "gpu/0", "lane": "gpu/0", "start": 20, "end": 100, "knownWaits": [], "signal": {"gpu/0": 1, "timeline 3": 1},
                "frontier": {"gpu/0": 1}, "tainted": false, "decisions": {}, "note": "call 5 of digits.classify"},
               {"id": "execute #2", "hw": "gpu/0", "lane": "gpu/0", "start": 100, "end": 200, "knownWaits": [{"timeline": "timeline 3", "value": 1, "over": "YES", "by": "fill #1", "last": true,
                  "text": "signalled by #1 fill on gpu/0: elided, its producer is earlier on the stream"}],
                "signal": {"gpu/0": 2, "timeline 3": 2}, "frontier": {"gpu/0": 2}, "tainted": false, "failure": "kernel trapped",
                "decisions": {"ELIDED_FIFO": 1}, "note": "call 6 of digits.classify"}],
             "memory": [
               {"reservation": 1, "pool": "transient", "slab": 0, "offset": 0, "length": 64, "consumer": "digits",
                "function": "digits.classify", "reuse": "UNUSED", "start": 10, "end": 120, "death": {}, "releasedBehind": {"gpu/0": 1}},
               {"reservation": 2, "pool": "transient", "slab": 0, "offset": 0, "length": 32, "consumer": "digits",
                "function": "digits.classify", "reuse": "KNOWN_BEFORE", "start": 130, "end": null, "death": {"gpu/0": 1}}],
             "problems": []}""";

    @Test
    void queuesOfARecordingAreUnderTheirMachines() {
        open("");
        browser.eval("void window.ireeConsole.explore.open(" + RUN.replace("""
                [{"id": "gpu/0", "lanes": 1, "machine": ""}]""", """
                [{"id": "local@m2.s3/0", "lanes": 1, "machine": "machine 2"}, {"id": "gpu/0", "lanes": 1, "machine": "machine 0"},
                 {"id": "local@m2.s3/1", "lanes": 1, "machine": "machine 2"}]""") + ")");
        assertThat(texts(".lane-names > *"))
                .containsExactly("machine 2", "local@m2.s3/0", "local@m2.s3/1", "machine 0", "gpu/0");
        assertThat(browser.text("#summary")).startsWith("2 operations, 3 lanes");
        browser.picture("explore-recording-machines");
        browser.assertAccessible("a recording of two machines");
    }

    /** The ring has dropped the records of weights in use. */
    @Test
    void memoryFromBeforeTheRecordsIsHeldAndNothingIsCalledUnused() {
        open("");
        browser.eval("void window.ireeConsole.explore.open("
                + RUN.replace("\"problems\": []", "\"heldBefore\": {\"weights\": 3145728}, \"problems\": []") + ")");
        browser.eval("window.ireeConsole.explore.transport.seek(20)");
        assertThat(browser.text("#memory-box"))
                .contains(
                        "64 B in 1 block at 20 ns, and held from before, at least: 3.0 MiB of pool \u201cweights\u201d");
        assertThat(texts("#memory-box .legend .key")).contains("held from before", "no use known");
        assertThat(browser.find("#memory-box canvas.chart").getDomAttribute("aria-label"))
                .contains("as far as recorded", "held from before at most 3.0 MiB");
        browser.click("#memory-box > .blocks button");
        assertThat(browser.text(".life"))
                .contains("no earlier use of these bytes is recorded")
                .contains("nothing that was recorded");
        browser.picture("explore-recording-before");
    }

    @Test
    void aRecordingShowsMemoryAndWhyABlockWasReused() {
        open("");
        browser.eval("void window.ireeConsole.explore.open(" + RUN + ")");
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

    /** The first operation ran after a signal of the host; the others had not ended when the recording was taken. */
    private static final String WAITS = """
            {"id": "recording", "label": "A recording", "unit": "ns", "isRecording": true, "finalTick": 200,
             "hardware": [{"id": "gpu/0", "lanes": 1}],
             "ops": [
               {"id": "fill #1", "hw": "gpu/0", "lane": "gpu/0", "start": 0, "end": 50, "knownWaits": [], "signal": {"t": 1}},
               {"id": "copy #2", "hw": "gpu/0", "lane": "gpu/0", "start": 80, "end": 120, "signal": {},
                "knownWaits": [{"timeline": "t", "value": 1, "over": "YES", "by": "fill #1", "text": "signalled by #1 fill"},
                          {"timeline": "host", "value": 1, "over": "YES", "last": true, "text": "signalled by the host: reached"}]},
               {"id": "held #3", "hw": "gpu/0", "start": null, "end": null, "signal": {},
                "knownWaits": [{"timeline": "host", "value": 1, "over": "YES", "text": "signalled by the host: reached"},
                          {"timeline": "call", "value": 1, "over": "NO", "text": "to be signalled by call 5: not decided"}]},
               {"id": "alloca #4", "hw": "gpu/0", "start": null, "end": null, "signal": {}, "forMemory": "YES",
                "knownWaits": [{"timeline": "host", "value": 1, "over": "YES", "text": "signalled by the host: reached"}]},
               {"id": "lost #5", "hw": "gpu/0", "start": null, "end": null, "signal": {},
                "knownWaits": [{"timeline": "call", "value": 2, "over": "UNKNOWN", "text": "not known whether signalled"}]}]}""";

    private static String panel(String operation) {
        browser.eval("window.ireeConsole.explore.select(window.ireeConsole.explore.schedule.byId.get('%s'))"
                .formatted(operation));
        return browser.text("#operation-box");
    }

    @Test
    void aWaitNotEndedByTheRunHasTheRecordersKnowledge() {
        open("");
        browser.eval("void window.ireeConsole.explore.open(" + WAITS + ")");
        browser.eval("window.ireeConsole.explore.transport.seek(200)");
        assertThat(panel("copy #2"))
                .contains("by fill #1 at 50 ns", "signalled by the host: reached")
                .as("the host signalled later")
                .doesNotContain("the last");
        assertThat(panel("held #3"))
                .contains("waiting", "to be signalled by call 5")
                .doesNotContain("nothing in this");
        assertThat(panel("alloca #4")).startsWith("alloca #4 waiting");
        assertThat(panel("lost #5")).startsWith("lost #5 waiting or ready").contains("not known whether signalled");
        assertThat(browser.text(".progress"))
                .isEqualTo("2 ended well, 0 failed, 0 running, 0 to come,"
                        + " 3 had not ended when the recording was taken.");
        assertThat(texts(".invariants b")).containsExactly("Failures are passed on");
        assertThat(texts(".invariants .number")).containsExactly("1 of 1 checked.");
    }
}
