package io.github.iree4j.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Live's panel of text generation, in a browser before a server with canned answers. */
@Timeout(600)
class GenerationPanelTest {
    private static final Path ROOT = Path.of("src/main/resources/META-INF/iree-console");

    private static final Map<String, String> TYPES =
            Map.of("html", "text/html", "js", "text/javascript", "css", "text/css", "svg", "image/svg+xml");

    private static final String STATISTICS = """
            {"pages": 15, "freePages": 7, "keptPages": 2, "running": 2, "waiting": 1, "prefillSteps": 4, "decodeSteps": 9,
             "promptTokens": 40, "sharedTokens": 10, "generatedTokens": 12, "preemptions": 1, "proposedTokens": 8,
             "acceptedTokens": 6, "pausedSteps": 3}""";

    private static final String STATE = """
            {"pages": 16, "pageTokens": 4, "keptPages": [14, 15], "sequences": [
              {"number": 3, "tenant": "anna", "promptTokens": 9, "generatedTokens": 4, "maximumTokens": 20,
               "computedTokens": 12, "sharedPages": 1, "pages": [1, 2, 3, 4]},
              {"number": 4, "tenant": "", "promptTokens": 7, "generatedTokens": 1, "maximumTokens": 8,
               "computedTokens": 7, "sharedPages": 1, "pages": [1, 5, 6]},
              {"number": 5, "tenant": "<b>", "promptTokens": 30, "generatedTokens": 0, "maximumTokens": 10,
               "computedTokens": 0, "sharedPages": 0, "pages": []}]}""";

    private static final String SLOW = """
            [{"ended": "2026-01-01T00:00:00Z", "number": 2, "tenant": "<b>", "promptTokens": 30, "sharedTokens": 0, "delay":
              {"index": 0, "time": "PT1M4.5S", "own": "PT4S", "waiting": "PT1M", "prefills": "PT0S", "decodes": "PT0.25S",
               "preemptions": 2}},
             {"ended": "2026-01-01T00:00:00Z", "number": 1, "tenant": "", "promptTokens": 1, "sharedTokens": 0, "delay":
              {"index": 7, "time": "PT0.02S", "own": "PT0.0125S", "waiting": "PT0S", "prefills": "PT0.0075S",
               "decodes": "PT0S", "preemptions": 0}}]""";

    private final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();
    private final AtomicInteger answers = new AtomicInteger();
    private volatile String selectors = "\"live\", \"generation\"";
    private volatile String state = STATE;
    private volatile String slow = SLOW;
    private volatile int status = 200;

    private HttpServer server;
    private Browser browser;

    @BeforeEach
    void start() throws IOException {
        browser = Browser.start(); // skips the test without a browser
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(0);
        }
        if (browser != null) {
            browser.close();
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        asked.computeIfAbsent(path, _ -> new AtomicInteger()).incrementAndGet();
        switch (path) {
            case "/console.json" -> send(exchange, 200, "{\"endpoints\": {\"iree\": \"/actuator/iree\"}}");
            case "/actuator/iree" -> send(exchange, status, "{\"selectors\": [%s]}".formatted(selectors));
            case "/actuator/iree/live" -> send(exchange, 200, live());
            case "/actuator/iree/generation" ->
                send(
                        exchange,
                        200,
                        "{\"models\": [{\"model\": \"chat\", \"statistics\": %s, \"state\": %s, \"slowTokens\": %s}]}"
                                .formatted(STATISTICS, state, slow));
            default -> sendFile(exchange, path.equals("/") ? "/index.html" : path);
        }
    }

    private static void sendFile(HttpExchange exchange, String path) throws IOException {
        byte[] body = Files.readAllBytes(ROOT.resolve(path.substring(1)));
        send(exchange, 200, TYPES.get(path.substring(path.lastIndexOf('.') + 1)), body);
    }

    private static void send(HttpExchange exchange, int status, String json) throws IOException {
        send(exchange, status, "application/json", json.getBytes(StandardCharsets.UTF_8));
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** An idle application without devices, a second after the previous answer. */
    private String live() {
        return """
                {"time": "2026-01-01T00:%02d:%02dZ", "machine": 0, "recording": false, "activeCalls": 0,
                 "task": {"workers": 1, "sleepingWorkers": 1, "liveProcesses": 0},
                 "peaks": {"since": "2026-01-01T00:00:00Z", "cursor": 1, "calls": 0, "busyWorkers": 0, "queues": [], "memory": []},
                 "devices": [], "queues": [], "frontiers": {"queues": [], "timelines": []},
                 "taint": {"opened": 0, "recovered": 0, "windows": []}, "pools": [], "memory": [], "modules": [],
                 "timelines": {"waiting": 0, "operations": [], "activeCalls": 0, "calls": [], "timelines": []},
                 "problems": [], "events": {"cursor": 0, "events": []}}""".formatted(answers.get() / 60, answers.getAndIncrement() % 60);
    }

    private void open() {
        browser.open("http://127.0.0.1:" + server.getAddress().getPort() + "/?view=live");
        browser.eval("(window.ireeConsole.live.interval = 0.05)");
    }

    private void awaitPolls(int number) {
        browser.until("window.ireeConsole.live.polls > " + number);
    }

    private int asked(String path) {
        return asked.getOrDefault(path, new AtomicInteger()).get();
    }

    @Test
    void sequencesAreLanesAndPagesAreAMap() {
        open();
        browser.until("document.querySelectorAll('#live-generation .sequence').length === 3");
        assertThat(browser.text("#live-generation .sentence"))
                .isEqualTo(
                        "2 sequences with pages, 1 waiting; 12 tokens generated so far, 25 % of the prompts\u2019 tokens"
                                + " found in the cache, 1 preemption, 75 % of the proposals accepted, no search for proposals in"
                                + " 33 % of the decode steps");
        assertThat(browser.text("#live-generation .sequence"))
                .isEqualTo("3 anna prompt 9, generated 4 of at most 20; 12 computed, 4 pages, 1 shared");
        assertThat(browser.text("#live-generation .waits"))
                .isEqualTo("5 <b> prompt 30, generated 0 of at most 10; waits for pages or a row");
        assertThat(browser.find("#live-generation canvas").getDomAttribute("aria-label"))
                .isEqualTo("Pages of the cache, 4 tokens each: 5 used, 1 shared, 2 kept, 7 free");
        assertThat(browser.text("#live-generation .slow-tokens li:first-child"))
                .isEqualTo(
                        "64.5 s until the first token of request 2 of <b>, 30 tokens of prompt: 4.0 s own steps,"
                                + " 60.0 s waiting for pages or its turn, 250 ms tokens of others, 250 ms between steps; 2 preemptions");
        assertThat(browser.text("#live-generation .slow-tokens li:last-child"))
                .isEqualTo("20.0 ms until token 8 of request 1, 1 token of prompt: 12.5 ms own steps,"
                        + " 7.5 ms prompts of others");
        assertThat(browser.eval("(document.querySelector('#live-generation .tokens').scrollWidth"
                        + " <= document.querySelector('#live-generation .tokens').clientWidth)"))
                .as("a lane fits")
                .isEqualTo(true);
        assertThat(
                        browser.eval(
                                "getComputedStyle(document.querySelector('#live-generation .waits .generated')).backgroundColor"))
                .as("grey")
                .isEqualTo("rgb(154, 160, 181)");
        browser.picture("live-generation");
        browser.assertAccessible("text generation");
        browser.preferDark(true);
        browser.resize(400, 800);
        browser.until("document.documentElement.scrollWidth <= 400");
        browser.picture("live-generation-narrow-dark");
        browser.assertAccessible("text generation in 400 pixels and in the dark");
        browser.assertNoErrors();
    }

    @Test
    void withoutSlowTokensThereIsNoList() {
        slow = "[]";
        open();
        browser.until("document.querySelectorAll('#live-generation .sequence').length === 3");
        assertThat(browser.find("#live-generation .slow-tokens").isDisplayed()).isFalse();
        slow = SLOW;
        browser.until("document.querySelectorAll('#live-generation .slow-tokens li').length === 2");
        assertThat(browser.find("#live-generation .slow-tokens").isDisplayed()).isTrue();
        browser.assertNoErrors();
    }

    @Test
    void aLongStepLeavesTheKnownFacts() {
        state = "null";
        open();
        browser.until("document.querySelector('#live-generation').textContent.includes('not known yet')");
        state = STATE;
        browser.until("document.querySelectorAll('#live-generation .sequence').length === 3");
        state = "null";
        browser.until("document.querySelector('#live-generation').textContent.includes('as they were before')");
        assertThat(browser.eval("document.querySelectorAll('#live-generation .sequence').length"))
                .isEqualTo(3L);
        browser.assertNoErrors();
    }

    @Test
    void withoutTextGenerationThereIsNoPanelAndASingleRequest() {
        selectors = "\"live\"";
        open();
        awaitPolls(40);
        assertThat(browser.find("#live-generation").isDisplayed()).isFalse();
        assertThat(asked("/actuator/iree")).isEqualTo(1);
        assertThat(asked("/actuator/iree/generation")).isZero();
        browser.assertNoErrors();
    }

    @Test
    void anUnknownAnswerIsAskedForAgainNotWithEachPoll() {
        status = 503;
        open();
        awaitPolls(20);
        assertThat(browser.find("#live-generation").isDisplayed()).isFalse();
        assertThat(asked("/actuator/iree")).isEqualTo(1);
        status = 200;
        browser.until("document.querySelectorAll('#live-generation .sequence').length === 3");
        browser.discardErrors();
    }
}
