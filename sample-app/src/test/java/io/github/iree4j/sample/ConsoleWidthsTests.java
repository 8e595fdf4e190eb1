package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;

/** The console's pages at the widths of screens, from a desk to a small telephone: nothing is wider than the screen. */
@TestPropertySource(properties = "iree.recorder.enabled=true")
@DirtiesContext // a process has one recorder
class ConsoleWidthsTests extends ConsoleTests {
    private static final int[] WIDTHS = {1440, 1280, 768, 400, 320};

    @Autowired
    private IreeRuntime runtime;

    private static void assertFits(String page) {
        for (int width : WIDTHS) {
            browser.resize(width, 900);
            for (boolean dark : new boolean[] {false, true}) {
                browser.preferDark(dark);
                browser.until("innerWidth === " + width);
                assertThat((Long) browser.eval("document.documentElement.scrollWidth"))
                        .as("%s at %d pixels", page, width)
                        .isLessThanOrEqualTo(width);
            }
        }
        browser.assertAccessible(page + " at 320 pixels");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fork-join", "multi-model", "kv-paging"})
    void exploreFits(String scenario) {
        pick(scenario);
        browser.click("#last");
        assertFits("explore-" + scenario);
    }

    @Test
    void theLessonFits() {
        open("?scenario=fork-join&lesson=1");
        browser.until("document.querySelectorAll('#lesson-steps button').length === 3");
        assertFits("lesson");
    }

    @Test
    void aProblemFits() {
        try (Timeline timeline = runtime.createTimeline("upload-of-the-prompt-and-its-attachments-finished");
                Fence never = timeline.at(1)) {
            runtime.device().queue(0).barrier(never, null, 0);
            openAddress("?view=calls");
            browser.until("document.querySelectorAll('#calls-problems .problem').length > 0");
            assertFits("problem");
            never.signal();
        }
    }

    @Test
    void threeWaysFit() {
        pick("transitive");
        browser.click("#ways");
        browser.until("document.getElementById('ways-box').children.length > 0");
        assertFits("ways");
    }

    @Test
    void liveFits() {
        openLive();
        assertFits("live");
    }

    @Test
    void callsFit() {
        openAddress("?view=calls");
        browser.until("document.getElementById('calls-about')?.textContent.length > 0");
        assertFits("calls");
    }
}
