package io.github.iree4j.sample;

import io.github.iree4j.console.Browser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/** A browser at the console of the running sample. Every test ends without an error in the browser's own console. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@Timeout(900)
abstract class ConsoleTests {

    static Browser browser;

    /** How often the test has clicked by {@link #click}. */
    int clicks;

    @LocalServerPort
    private int port;

    @BeforeAll
    static void start() {
        browser = Browser.start();
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void reset() {
        browser.resize(1360, 1000);
        browser.preferDark(false);
    }

    @AfterEach
    void saysNoErrors() {
        browser.assertNoErrors();
    }

    /** Opens an address of the console, whatever the view. */
    void openAddress(String query) {
        openAddress("", query);
    }

    /** Opens an address of the console with a user, as in {@code user:password@}. */
    void openAddress(String user, String query) {
        browser.open("http://" + user + "localhost:" + port + "/iree/" + query);
    }

    /** Opens Explore with a run. */
    void open(String query) {
        openAddress(query);
        browser.until("document.getElementById('now').textContent !== ''");
    }

    /** Opens Explore with a scenario. */
    void pick(String scenario) {
        open("?scenario=" + scenario);
        browser.until("document.getElementById('scenario').value === '" + scenario + "'");
    }

    /** Opens Live. */
    void openLive() {
        openAddress("?view=live");
        browser.until("window.ireeConsole?.live.polls > 0");
    }

    /** Clicks, and counts. */
    void click(String selector) {
        browser.click(selector);
        clicks++;
    }

    /** Chooses an element of a list, as a user does. */
    static void choose(String list, String value) {
        browser.eval("(() => { const list = document.getElementById('" + list + "'); list.value = '" + value
                + "'; list.dispatchEvent(new Event('change')); })()");
    }

    /** Moves a slider, as a user does. */
    static void slide(String slider, int value) {
        browser.eval("(() => { const it = document.getElementById('" + slider + "'); it.value = " + value
                + "; it.dispatchEvent(new Event('input')); })()");
    }

    static List<String> texts(String selector) {
        List<?> texts = (List<?>)
                browser.eval("[...document.querySelectorAll('" + selector + "')].map((each) => each.textContent)");
        return texts.stream().map(Object::toString).toList();
    }

    private HttpRequest digit() {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/digits"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"pixels\": %s}"
                        .formatted(Arrays.toString(
                                HandwrittenDigits.load().heldOut().getFirst().pixels()))))
                .build();
    }

    /** Has the sample read a digit so many times. */
    void readDigits(int times) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int i = 0; i < times; i++) {
                client.send(digit(), BodyHandlers.discarding());
            }
        }
    }

    /** Makes the sample read digits until the close. */
    final class Load implements AutoCloseable {
        private final AtomicBoolean over = new AtomicBoolean();
        private final ExecutorService threads = Executors.newFixedThreadPool(3);

        Load() {
            HttpRequest request = digit();
            for (int i = 0; i < 3; i++) {
                threads.submit(() -> {
                    try (HttpClient client = HttpClient.newHttpClient()) {
                        while (!over.get()) {
                            client.send(request, BodyHandlers.discarding());
                        }
                    }
                    return null;
                });
            }
        }

        @Override
        public void close() {
            over.set(true);
            threads.close();
        }
    }
}
