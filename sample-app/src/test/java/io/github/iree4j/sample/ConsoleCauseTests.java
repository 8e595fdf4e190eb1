package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.InvocationService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

/** From the page to the cause of a hang and of a shortage, in three clicks at most; the watchdog of the sample reports. */
@TestPropertySource(
        properties = {"iree.watchdog.after=5s", "iree.watchdog.interval=100ms", "iree.pools.local.budget=16MB"})
class ConsoleCauseTests extends ConsoleTests {

    private static final int ROWS = 1 << 14;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private InvocationService invocations;

    @Test
    void aHangLeadsToTheMissingSignal() {
        try (Timeline timeline = runtime.createTimeline("upload-finished");
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> hanging = invocations
                    .request("digits.classify")
                    .inputs(Tensor.of(new float[64], 1, 64))
                    .after(never)
                    .invokeAsync();
            open("");
            click("#live-tab");
            // The shortage of the other test is over some seconds after its last failure.
            browser.until("document.querySelectorAll('#live-problems .problem').length === 1"
                    + " && document.querySelector('#live-problems').textContent.includes('unsignalled fence')");
            click("#live-problems .problem summary");
            assertThat(browser.text("#live-problems"))
                    .contains("unsignalled fence", "digits", "upload-finished", "What to do:");
            assertThat(clicks).isLessThanOrEqualTo(3);
            browser.picture("cause-hang");
            browser.assertAccessible("a hang");
            never.signal();
            hanging.join().close();
        }
    }

    @Test
    void aShortageLeadsToTheProgramWithKeptResults() {
        List<Results> kept = new ArrayList<>();
        Tensor input = Tensor.of(new float[ROWS * 64], ROWS, 64);
        try {
            callUntilMemoryIsShort(input, kept);
            open("");
            click("#live-tab");
            callUntilMemoryIsShort(input, kept); // the problem is over some seconds after the last failure
            browser.until("document.querySelectorAll('#live-problems .problem').length > 0");
            assertThat(browser.text("#live-problems"))
                    .contains("memory shortage", "program 'digits' holds", "tensors were open", "close results sooner");
            assertThat(browser.text("#live-memory")).contains("limit 16.0 MiB", "digits");
            assertThat(clicks).isLessThanOrEqualTo(3);
            browser.picture("cause-shortage");
            browser.assertAccessible("a shortage");
        } finally {
            kept.forEach(Results::close);
        }
    }

    private void callUntilMemoryIsShort(Tensor input, List<Results> kept) {
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> {
                    while (kept.size() < 100) {
                        kept.add(invocations
                                .request("digits.classify")
                                .inputs(input)
                                .invokeAsync()
                                .join());
                    }
                })
                .withMessageContaining("it fits once results or tensors are closed");
    }
}
