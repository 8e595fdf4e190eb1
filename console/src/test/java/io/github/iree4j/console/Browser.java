package io.github.iree4j.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A Chromium without a window. Fails on the first error in the console. */
public final class Browser implements AutoCloseable {

    /** The time of a page on a building machine. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final Path PICTURES = Path.of("target", "screenshots");

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Starts the machine's own Chromium; without a browser, the test is skipped. */
    public static Browser start() {
        Path chromium = program("chromium", "google-chrome");
        Path chromedriver = program("chromedriver");
        assumeTrue(
                chromium != null && chromedriver != null,
                "needs a browser: apt-get install --no-install-recommends chromium chromium-driver");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(Objects.requireNonNull(chromium).toFile());
        // As root there is no sandbox, in containers little shared memory, and builds have no graphics card.
        options.addArguments(
                "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars");
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(Objects.requireNonNull(chromedriver).toFile())
                .usingAnyFreePort()
                .build();
        Browser browser = new Browser(new ChromeDriver(service, options));
        browser.resize(1360, 1000);
        return browser;
    }

    private static Path program(String... names) {
        return Stream.of(names)
                .flatMap(name -> Stream.of(Objects.requireNonNullElse(System.getenv("PATH"), "")
                                .split(":"))
                        .map(directory -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    public void open(String url) {
        driver.get(url);
    }

    public void resize(int width, int height) {
        driver.manage().window().setSize(new Dimension(width, height));
        // Headless windows have a least width; the page's time counts.
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    public void preferDark(boolean dark) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    }

    /** Whether the reader wants no motion. */
    public void preferStill(boolean still) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-reduced-motion", "value", still ? "reduce" : ""))));
    }

    /** The result of a JavaScript expression. */
    public Object eval(String expression) {
        return driver.executeScript("return " + expression + ";");
    }

    /** The resolved result of a JavaScript expression of a promise. */
    public Object await(String expression) {
        driver.manage().timeouts().scriptTimeout(PATIENCE);
        return driver.executeAsyncScript("const done = arguments[0];" + "(async () => (" + expression
                + "))().then(done, (error) => done('failed: ' + error.stack));");
    }

    /** Waits until an expression is true, a frame at a time. */
    public void until(String condition) {
        Object answer = await("await (async () => { const end = performance.now() + " + PATIENCE.toMillis() / 2
                + "; while (!(" + condition + ")) { if (performance.now() > end) return document.body.innerText;"
                + " await new Promise((resume) => setTimeout(resume, 20)); } return true; })()");
        assertThat(answer).as(condition).isEqualTo(true);
    }

    /** Processor time of the page's thread, in milliseconds: unaffected by other work beside the page. */
    public double processorMillis() {
        driver.executeCdpCommand("Performance.enable", Map.of("timeDomain", "threadTicks"));
        List<?> metrics = (List<?>)
                driver.executeCdpCommand("Performance.getMetrics", Map.of()).get("metrics");
        return metrics.stream()
                .map(each -> (Map<?, ?>) each)
                .filter(each -> "TaskDuration".equals(each.get("name")))
                .mapToDouble(each -> 1000 * ((Number) each.get("value")).doubleValue())
                .findFirst()
                .orElseThrow();
    }

    public WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    public String text(String selector) {
        return current(selector, WebElement::getText);
    }

    public void click(String selector) {
        current(selector, element -> {
            element.click();
            return element;
        });
    }

    /** Uses the element present on the page: between two answers Live may replace a found element. */
    private <T> T current(String selector, Function<WebElement, T> use) {
        for (int tries = 1; ; tries++) {
            try {
                return use.apply(find(selector));
            } catch (StaleElementReferenceException e) {
                if (tries == 10) {
                    throw e;
                }
            }
        }
    }

    /** Types keys where the focus is. */
    public void type(CharSequence... keys) {
        new Actions(driver).sendKeys(keys).perform();
    }

    public void typeWithControl(CharSequence key) {
        new Actions(driver)
                .keyDown(Keys.CONTROL)
                .sendKeys(key)
                .keyUp(Keys.CONTROL)
                .perform();
    }

    /** The address, as at the time of leaving a page. */
    public String address() {
        eval("dispatchEvent(new Event('pagehide'))");
        return driver.getCurrentUrl();
    }

    /** Keeps a picture of the whole page. */
    public void picture(String name) {
        try {
            Files.createDirectories(PICTURES);
            int height = ((Number) eval("document.documentElement.scrollHeight")).intValue();
            int width = ((Number) eval("window.innerWidth")).intValue();
            int before = ((Number) eval("window.innerHeight")).intValue();
            resize(width, Math.min(6000, Math.max(height, before)));
            await("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
            Files.write(PICTURES.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
            resize(width, before);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The messages of the browser's console: errors and warnings, violations of the content security policy too. */
    public void assertNoErrors() {
        List<String> errors = driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::toString)
                .toList();
        assertThat(errors).isEmpty();
    }

    /** Forgets the messages of the browser's console, for tests that cause an error. */
    public void discardErrors() {
        driver.manage().logs().get(LogType.BROWSER);
    }

    /** Scans the page for obstacles to people's use. */
    public void assertAccessible(String what) {
        try (InputStream script = Objects.requireNonNull(Browser.class.getResourceAsStream("/axe.min.js"))) {
            driver.executeScript(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // Visible labels in accessible names: a rule of axe-core, on from 4.14, and off in the version used here.
        Object findings =
                await("(await axe.run({ rules: { 'label-content-name-mismatch': { enabled: true } } })).violations"
                        + ".filter((each) => ['serious', 'critical', 'moderate'].includes(each.impact))"
                        + ".map((each) => each.id + ': ' + each.nodes.map((node) => node.html + ' ' + node.failureSummary)"
                        + ".slice(0, 4).join(' | '))");
        assertThat((List<?>) findings).as("accessibility of " + what).isEmpty();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
