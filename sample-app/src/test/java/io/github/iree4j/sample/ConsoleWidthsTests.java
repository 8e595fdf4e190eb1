package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;

/** The console's pages at the widths of screens, from a desk to a small telephone: nothing is wider than the screen. */
@TestPropertySource(properties = "iree.recorder.enabled=true")
@DirtiesContext // a process has one recorder
class ConsoleWidthsTests extends ConsoleTests {
    private static final int[] WIDTHS = {1440, 1280, 768, 400, 320};

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
    }

    @ParameterizedTest
    @ValueSource(strings = {"fork-join", "multi-model", "kv-paging"})
    void exploreFits(String scenario) {
        pick(scenario);
        browser.click("#last");
        assertFits("explore-" + scenario);
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
