package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;

/** From the page to the cause where work waits for memory, or for each other, live and over a recording: in three clicks at most. */
@TestPropertySource(
        properties = {
            "iree.recorder.enabled=true",
            "iree.watchdog.after=1s",
            "iree.watchdog.interval=100ms",
            "iree.pools.local.budget=16MB",
            "iree.advanced.pools.local.waiting.host=10m",
            "iree.advanced.pools.local.waiting.limit=10m",
            "iree.invocation.timeout=10m",
            "iree.modules.one.location=" + ConsoleStandstillTests.ASYNCHRONOUS,
            "iree.modules.two.location=" + ConsoleStandstillTests.ASYNCHRONOUS,
            "iree.modules.three.location=" + ConsoleStandstillTests.ASYNCHRONOUS
        })
@DirtiesContext // a process has one recorder
class ConsoleStandstillTests extends ConsoleTests {
    /** A program that submits work before its inputs are there. */
    static final String ASYNCHRONOUS = "file:../fixtures/modules/3.13.0/cpu-async/add.vmfb";

    private static final int MIB = 1 << 20;
    private static final int ROWS = 1 << 14;
    private static final List<String> PROGRAMS = List.of("one", "two");

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private InvocationService invocations;

    /** Keeps pictures for five widths of screens, by day and night. */
    private static void pictures(String name) {
        for (boolean dark : new boolean[] {false, true}) {
            browser.preferDark(dark);
            browser.assertAccessible(name);
            for (int width : new int[] {1440, 1280, 768, 400, 320}) {
                browser.resize(width, 900);
                browser.until("innerWidth === " + width);
                assertThat((Long) browser.eval("document.documentElement.scrollWidth"))
                        .isLessThanOrEqualTo(width);
                browser.picture("%s-%d-%s".formatted(name, width, dark ? "dark" : "light"));
            }
        }
        browser.preferDark(false);
        browser.resize(1360, 1000);
    }

    private void openProblems(String tab, String problems) {
        clicks = 0;
        click(tab);
        browser.until("document.querySelectorAll('" + problems + " .problem').length > 0");
    }

    private void exportToExplore() {
        click("#live-tab");
        browser.until("window.ireeConsole.live.polls > 0");
        click("#live-export");
        browser.until("document.title.startsWith('Explore')");
        browser.until("document.querySelectorAll('#explore-problems .problem').length > 0");
    }

    /** Asserts that a call points to its problem in three clicks: to Calls, on the call, and on the button. */
    private void assertPointsToItsProblem(String how, String kind) {
        assertThat(browser.text("#calls-call")).as(how).contains("Held up: " + kind);
        click("#calls-call button");
        assertThat(browser.eval("document.activeElement.closest('#calls-problems .problem')?.textContent"))
                .as(how)
                .asString()
                .startsWith(kind);
        assertThat(clicks).isLessThanOrEqualTo(3);
    }

    @Test
    void aCallHeldForMemoryLeadsToTheHolderOfTheMemory() {
        DeviceQueue queue = runtime.device().queue(0);
        try (Timeline timeline = runtime.createTimeline("buffers");
                Fence there = timeline.at(1);
                Buffer held = queue.alloca(null, there, BufferParams.DEFAULT.withConsumer("scans"), 9 * MIB, 0)) {
            there.await();
            CompletableFuture<Void> waits = invocations
                    .request("digits.classify")
                    .inputs(Tensor.of(new float[ROWS * 64], ROWS, 64))
                    .invokeAsync()
                    .thenAccept(Results::close);
            open("");
            openProblems("#live-tab", "#live-problems");
            assertThat(browser.text("#live-problems"))
                    .containsPattern("wait for memory of device 'local', for 4\\.\\d MiB of pool 'large':"
                            + " the limit is 16.0 MiB, and program 'scans' holds 9.0 MiB")
                    .contains("What to do:");
            click("#live-problems details summary");
            assertThat(texts("#live-problems details li"))
                    .anySatisfy(each -> assertThat(each)
                            .containsPattern(
                                    "alloca on queue local/0, of call of 'digits.classify' of program 'digits',"
                                            + " has waited .*, for 4\\.\\d MiB of pool 'large' held by other work"));
            assertThat(texts("#live-waiting li.muted"))
                    .anySatisfy(each -> assertThat(each).containsPattern("^4\\.\\d MiB of pool 'large' held by"));
            assertThat(browser.text("#live-memory")).contains("limit 16.0 MiB", "scans 9.0 MiB");
            pictures("standstill-memory-live");

            open("");
            openProblems("#calls-tab", "#calls-problems");
            assertThat(browser.text("#calls-problems"))
                    .contains("memory shortage", "program 'scans' with 9.0 MiB in 1 block for ", "What to do:")
                    .containsPattern("waiting for 4\\.\\d MiB of pool 'large' of device 'local', limited to 16.0 MiB:"
                            + " 1 operation;");
            assertThat(texts("#calls-problems details li"))
                    .singleElement()
                    .asString()
                    .containsPattern("alloca on local/0 by call \\d+ of digits.classify of program 'digits',"
                            + " has waited [\\d.]+ s for 4\\.\\d MiB of pool 'large'");
            assertThat(texts("#calls-problems .links"))
                    .as("no signal is missing")
                    .isEmpty();
            click("#calls-problems button");
            pictures("standstill-memory-calls");
            assertPointsToItsProblem("the call of the card", "memory shortage");

            exportToExplore();
            assertThat(browser.text("#explore-problems")).contains("memory shortage", "program 'scans' with 9.0 MiB");
            pictures("standstill-memory-explore");
            queue.dealloca(null, null, held, 0);
            waits.join();
        }
    }

    /** A call of unknown need is not admitted ahead of its fence, though there is memory for all. */
    @Test
    void aFirstCallBehindAMissingSignalIsNotShortOfMemory() {
        try (Timeline weights = runtime.createTimeline("weights-uploaded");
                Fence uploaded = weights.at(1)) {
            CompletableFuture<Void> first = add("three", uploaded);
            open("");
            openProblems("#live-tab", "#live-problems");
            assertThat(texts("#live-problems .problem")).hasSize(1);
            assertThat(browser.text("#live-problems"))
                    .contains("unsignalled fence", "weights-uploaded")
                    .doesNotContain("memory", "deadlock");
            assertThat(String.join(" > ", texts("#live-problems .links li")))
                    .matches("call \\d+ of three.add of program 'three' > timeline \\d+ 'weights-uploaded' at 1");
            assertThat(browser.text("#live-waiting"))
                    .contains(
                            "0 operations and 1 call wait; 1 of them to be admitted, since their need of memory is not known")
                    .contains("three.add waits to be admitted: its need of memory is not known")
                    .contains("\u201cweights-uploaded\u201d 0 \u2192 1");
            assertThat(texts("#live-tiles [data-mood=bad]")).as("alarms").isEmpty();
            pictures("standstill-unknown-live");
            uploaded.signal();
            first.join();
        }
    }

    /** The live card is of the watchdog, the other two are of the recorder. */
    @Test
    void callsBehindADeadlockLeadToTheCycleAndNoSignalIsMissing() {
        PROGRAMS.forEach(each -> add(each, null).join()); // of unknown need, a call would wait outside for its inputs
        DeviceQueue queue = runtime.device().queue(0);
        try (Timeline weights = runtime.createTimeline("weights-copied");
                Timeline cache = runtime.createTimeline("cache-cleared");
                Fence copied = weights.at(1);
                Fence cleared = cache.at(1)) {
            queue.barrier(copied, cleared, 0);
            queue.barrier(cleared, copied, 0);
            List<CompletableFuture<Void>> behind = List.of(add("one", copied), add("two", cleared));
            open("");
            openProblems("#live-tab", "#live-problems");
            for (String program : PROGRAMS) { // its operations are submitted
                browser.until("window.ireeConsole.live.latest.timelines.operations"
                        + ".some((each) => each.program === '" + program + "')");
            }
            assertThat(texts("#live-problems .problem")).hasSize(1);
            assertThat(browser.text("#live-problems"))
                    .contains("deadlock", "wait for each other", "What to do: fail the timeline")
                    .doesNotContain("nothing that was submitted");
            assertThat(texts("#live-problems .links li"))
                    .endsWith("back to the first operation")
                    .contains("barrier on local/0")
                    .anyMatch(each -> each.endsWith(" 'weights-copied' at 1"))
                    .anyMatch(each -> each.endsWith(" 'cache-cleared' at 1"));
            assertThat(texts(".missing")).isEmpty();
            pictures("standstill-deadlock-live");

            open("");
            openProblems("#calls-tab", "#calls-problems");
            assertThat(texts("#calls-problems .problem")).hasSize(1);
            assertThat(browser.text("#calls-problems"))
                    .contains("2 operations wait for each other", "waiting for the end of the cycle: 2 calls and ")
                    .doesNotContain("nobody");
            List<String> links = texts("#calls-problems .links li");
            assertThat(links.getFirst()).matches("call \\d+ of .*add of program 'one', .*");
            List<String> cycle = links.subList(links.size() - 5, links.size()); // two operations, and the first again
            assertThat(cycle.get(0)).matches("#\\d+ barrier on local/0").isNotEqualTo(cycle.get(2));
            assertThat(cycle.get(1)).contains("'cache-cleared' at 1");
            assertThat(cycle.get(2)).matches("#\\d+ barrier on local/0");
            assertThat(cycle.get(3)).contains("'weights-copied' at 1");
            assertThat(cycle.get(4)).isEqualTo("back to " + cycle.get(0));
            assertThat(texts(".missing")).isEmpty();
            assertThat(texts("#calls-problems details li")).allMatch(each -> each.contains(", has waited "));
            click("#calls-problems button");
            pictures("standstill-deadlock-calls");
            assertPointsToItsProblem("the call of the card", "deadlock");
            for (int i = 0; i < PROGRAMS.size(); i++) {
                clicks = 1; // to Calls
                browser.eval(
                        "(() => { const { calls } = window.ireeConsole; const open = calls.trace.calls.filter((each) => each.isOpen);"
                                + " calls.select(open[" + i + "]); })()");
                clicks++; // on a bar
                assertPointsToItsProblem("a call of " + PROGRAMS.get(i), "deadlock");
            }

            exportToExplore();
            assertThat(texts("#explore-problems .again")).hasSize(1);
            assertThat(texts(".missing")).isEmpty();
            assertThat(browser.eval("""
                            (() => {
                              const boxes = (selector) => [...document.querySelectorAll(`svg.graph ${selector}`)].map((each) => each.getBoundingClientRect());
                              const [labels, nodes, heads] = ['.edge-label', '.node-box', '.edge-head'].map(boxes);
                              const graph = document.querySelector('svg.graph').getBoundingClientRect();
                              const isOutside = (each) => each.left < graph.left || each.right > graph.right || each.bottom > graph.bottom;
                              const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
                              return [labels.length > 2, [...labels, ...heads].filter(isOutside).length, labels.filter((each) => nodes.some((node) => overlaps(each, node))).length].join();
                            })()"""))
                    .as("labels and heads of the graph's arrows outside, labels below nodes")
                    .isEqualTo("true,0,0");
            pictures("standstill-deadlock-explore");
            weights.semaphore().fail(IreeException.of(StatusCode.ABORTED, "given up"));
            behind.forEach(each -> assertThat(each).failsWithin(Duration.ofMinutes(1)));
        }
    }

    private CompletableFuture<Void> add(String program, Fence after) {
        Tensor four = Tensor.of(new float[] {1, 2, 3, 4}, 4);
        return invocations
                .request(program + ".add")
                .inputs(four, four)
                .after(after)
                .invokeAsync()
                .thenAccept(Results::close);
    }
}
