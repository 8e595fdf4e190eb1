package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/**
 * The console teaches: the meaning of a frontier, the releaser of each operation, the knowledge of each operation, and
 * the outcome of waits.
 */
class ConsoleLessonTests extends ConsoleTests {

    private static final String LANES = "window.ireeConsole.explore.lanes";

    @Test
    void aPageWithoutAScenarioBeginsWithThreeStepsOnForkAndJoin() {
        open("");
        browser.until("document.getElementById('scenario').value === 'fork-join'");
        assertThat(texts("#lesson-steps h3"))
                .containsExactly("1. A signal carries its past", "2. A wait takes the past over", "3. Frontiers merge");
        assertThat(texts("#lesson-steps li:nth-child(3) .chip"))
                .containsExactly("Main\u200a:\u200a2", "Line A\u200a:\u200a1", "Line B\u200a:\u200a1");
        browser.click("#lesson-steps li:nth-child(3) button");
        browser.until("document.getElementById('now').textContent === 'tick 8 of 9'");
        browser.until("document.getElementById('play').textContent === 'Play'");
        assertThat(browser.text("#operation-box strong")).isEqualTo("Merge");
        assertThat(browser.address()).contains("lesson=3").contains("op=merge");
        browser.picture("explore-lesson");
        browser.assertAccessible("the lesson");
        browser.click("#lesson-close");
        assertThat(browser.find("#lesson-card").isDisplayed()).isFalse();
        browser.eval("document.activeElement.blur()");
        browser.type("w");
        assertThat(browser.find("#lesson-card").isDisplayed()).isTrue();
        pick("sequential");
        assertThat(browser.find("#lesson").isDisplayed())
                .as("no operation follows two others")
                .isFalse();
    }

    @Test
    void aStepIsShownAtOnceToUsersWithoutMotion() {
        browser.preferStill(true);
        try {
            open("?scenario=fork-join&lesson=1");
            browser.until("document.querySelectorAll('#lesson-steps button').length === 3");
            browser.click("#lesson-steps li:nth-child(2) button");
            assertThat(browser.text("#now")).isEqualTo("tick 5 of 9");
            browser.click("#forward");
            assertThat(browser.eval(LANES + ".chips.flights.length")).isEqualTo(0L);
        } finally {
            browser.preferStill(false);
        }
    }

    @Test
    void aStepClickedAgainPlaysNoFaster() {
        open("?scenario=fork-join&lesson=1");
        browser.until("document.querySelectorAll('#lesson-steps button').length === 3");
        assertThat(browser.await("""
                        await (async () => {
                          const { transport } = window.ireeConsole.explore;
                          const button = document.querySelector('#lesson-steps li:nth-child(3) button');
                          for (let i = 0; i < 3; i++) button.click();
                          const began = performance.now();
                          const from = transport.at;
                          await new Promise((resume) => setTimeout(resume, 400));
                          const most = (transport.rate * (performance.now() - began)) / 1000 + 0.05;
                          return transport.at - from <= most && transport.at > from ? 'as fast' : `${transport.at - from} of ${most}`;
                        })()""")).isEqualTo("as fast");
    }

    @Test
    void aRunGettingLongerDuringPlayIsPlayedToItsEnd() {
        pick("fork-join");
        for (int i = 0; i < 3; i++) {
            browser.click("#speed");
        }
        browser.click("#play");
        slide("depth", 3);
        browser.until("document.getElementById('now').textContent === 'tick 25 of 25'");
        browser.until("document.getElementById('play').textContent === 'Play'");
    }

    @Test
    void entriesFlyToEachStartingOperationAndLand() {
        pick("fork-join");
        browser.click("#forward");
        assertThat(browser.eval(LANES + ".chips.flights.length")).isEqualTo(0L);
        assertThat(browser.eval("(() => { document.getElementById('forward').click(); return " + LANES
                        + ".chips.flights.map(({ release }) => `${release.from.id} ${release.to.id}`).join(); })()"))
                .isEqualTo("setup branch_a,setup branch_b");
        browser.until(LANES + ".chips.flights.length === 0");
        // Both frontiers have Main at 1, which arrives as one.
        String merge = "window.ireeConsole.explore.schedule.byId.get('merge')";
        browser.eval("window.ireeConsole.explore.transport.seek(" + merge + ".start - 1)");
        assertThat(
                        browser.eval(
                                "(() => { document.getElementById('forward').click(); return " + LANES
                                        + ".chips.flights.map(({ release }) => `${release.from.id} ${release.to.id}: ${release.from.frontier.map(([name]) => name).sort().join(' ')}`).join(); })()"))
                .isEqualTo("branch_a merge: a s,branch_b merge: b s");
        browser.until(LANES + ".chips.flights.length === 0");
        assertThat(browser.await("await import('./view/frontier-chips.js').then(({ knownAt }) => [...knownAt(" + merge
                        + ", window.ireeConsole.explore.transport.at)].map((each) => each.join(':')).sort().join())"))
                .isEqualTo("a:1,b:1,s:1");
        // Time that goes back takes back what it brought.
        assertThat(browser.eval("(() => { document.getElementById('back').click(); return " + LANES
                        + ".chips.flights.length; })()"))
                .isEqualTo(0L);
    }

    /** The last wait, right before the start, is a line; the other wait, ended a tick before, is dotted. */
    @Test
    void arrowsLeadFromTheEndOfAnOperationToTheStartOfTheNext() {
        pick("fork-join");
        String between = "(() => { const { lanes, schedule } = window.ireeConsole.explore; lanes.drawNow();"
                + " const scale = devicePixelRatio; const { top, row } = lanes.topOf.get('gpu_0');"
                + " const x = (tick) => Math.round((tick - lanes.from) * lanes.perUnit * scale);"
                + " const y = Math.round((top + 4 + (row - 2) / 2) * scale);"
                + " const copy = new OffscreenCanvas(lanes.canvas.width, lanes.canvas.height).getContext('2d', { willReadFrequently: true });"
                + " copy.drawImage(lanes.canvas, 0, 0); const pixels = copy.getImageData(x(5) + 4, y, x(6) - x(5) - 16, 1).data;"
                + " const seen = []; for (let i = 0; i < pixels.length; i += 4) seen.push(pixels[i] + pixels[i + 1] + pixels[i + 2] < 600);"
                + " return [seen.some((each) => each), seen.every((each) => each)].join(); })()";
        browser.eval("document.activeElement.blur()");
        browser.type(Keys.END);
        assertThat(browser.eval(between)).as("dots between Branch A and Merge").isEqualTo("true,false");
        browser.type("n");
        assertThat(browser.text("#operation-box strong")).isEqualTo("Set up");
        assertThat(browser.eval(between)).as("of the selected one’s past alone").isEqualTo("false,false");
        assertThat(browser.find("#legend").getText())
                .contains("waiting", "ready", "running", "ended", "failed")
                .contains("released by this operation", "waited for as well");
    }

    @Test
    void theOperationShowsTheEndOfEachWaitAndTheLastWait() {
        open("?scenario=fork-join&tick=9&op=merge");
        browser.until("document.querySelector('#operation-box strong')?.textContent === 'Merge'");
        assertThat(browser.text("#operation-box"))
                .contains("by Branch A at tick 5")
                .contains("by Branch B at tick 6, the last")
                .doesNotContain("tick 5, the last");
    }

    @Test
    void theFrontiersOfAllOperationsAreATableFillingWithTime() {
        pick("fork-join");
        assertThat(texts("#frontiers-box thead th")).containsExactly("Operation", "Main", "Line A", "Line B");
        assertThat(texts("#frontiers-box td.known")).isEmpty();
        browser.eval("document.activeElement.blur()");
        browser.eval("window.ireeConsole.explore.transport.seek(3)");
        // The branches know what they waited for, and not yet what they will signal.
        assertThat(frontiers()).containsExactly("1,,", "1,,", "1,,", ",,");
        browser.type(Keys.END);
        assertThat(frontiers()).containsExactly("1,,", "1,1,", "1,,1", "2,1,1");
        assertThat(texts("#frontiers-box td.own")).containsExactly("1", "1", "1", "2");
        browser.type(Keys.HOME);
        assertThat(texts("#frontiers-box td.known")).as("back at the start").isEmpty();
    }

    private static List<String> frontiers() {
        List<?> rows = (List<?>) browser.eval("[...document.querySelectorAll('#frontiers-box tbody tr')]"
                + ".map((row) => [...row.querySelectorAll('td')].map((each) => each.textContent).join())");
        return rows.stream().map(Object::toString).toList();
    }

    @Test
    void threeWaysAreASinglePictureWithDroppedWaitsStruckThrough() {
        open("?scenario=transitive&ways=1");
        browser.until("document.querySelectorAll('.way-waits tbody tr').length === 5");
        assertThat(texts(".way-waits tr.differs th")).containsExactly("Use", "Use again");
        assertThat(browser.text(".way-waits tbody tr:nth-child(2)"))
                .isEqualTo("Use Made ≥ 1 left to the device left to the device wait implied by another wait");
        assertThat(browser.text(".way-waits tbody tr:nth-child(4)"))
                .endsWith("left to the device wait implied by the frontier");
        assertThat(texts(".way-reason"))
                .containsExactlyInAnyOrder(
                        "implied by another wait", "implied by the frontier", "implied by the order", "of its queue");
        assertThat(browser.eval("(() => { const boxes = (all) => [...document.querySelectorAll(all)].map((each) =>"
                        + " each.getBoundingClientRect()); return boxes('.way-reason').filter((text) =>"
                        + " boxes('.way-node rect').some((node) => text.left < node.right && node.left < text.right"
                        + " && text.top < node.bottom && node.top < text.bottom)).length; })()"))
                .as("reasons behind a box")
                .isEqualTo(0L);
        assertThat(texts(".way-strike.frontiers")).hasSize(3);
        assertThat(texts(".way-strike.events")).as("on one queue").hasSize(1);
        assertThat(browser.eval("document.querySelector('.ways-picture svg').getAttribute('aria-label')"))
                .isEqualTo("5 waits in three ways, of which 3 dropped in at least one; the table below lists them");
        browser.picture("explore-three-ways");
        browser.assertAccessible("three ways in one picture");
    }

    @Test
    void aPageInAFileShowsTheSameWithoutAServer(@TempDir Path folder) throws Exception {
        Path page = folder.resolve("explorer.html");
        assertThat(commandLine("lab", "page", "--output=" + page)).isZero();
        String address = page.toUri().toString();
        browser.open(address + "?scenario=kv-paging&tick=5&op=evict&ways=1");
        browser.until("document.querySelector('#operation-box strong')?.textContent === 'Evict A'");
        browser.until("document.querySelectorAll('.way').length === 3");
        assertThat(browser.text("#now")).startsWith("tick 5");
        assertThat(browser.find("#live-tab").isDisplayed()).isFalse();
        assertThat(texts("#scenario option")).hasSizeGreaterThan(20);
        assertThat(browser.find("#width").isEnabled()).isFalse();
        assertThat(browser.find("[data-kind=kill]").isEnabled()).isFalse();
        browser.picture("explore-file");
        browser.assertAccessible("a page in a file");
        browser.open(address + "?scenario=kv-paging&width=3");
        browser.until("document.getElementById('notice').textContent.startsWith('This page is a file')");
        browser.open(address + "?scenario=fork-join&depth=3");
        browser.until("document.getElementById('notice').textContent.startsWith('This page is a file')");
        browser.open(address);
        browser.until("document.querySelectorAll('#lesson-steps button').length === 3");
    }

    private static int commandLine(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "io.github.iree4j.tools.Iree4jCommand"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
