package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.console.Browser;
import io.github.iree4j.spring.Programs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Programs of three nodes in a ring: three samples in this process, with real connections between them. */
@Timeout(300)
class ProgramRingTests {
    private static final int NODES = 3;
    private static final int STAGES = 16;

    @TempDir
    private Path directory;

    private final List<ConfigurableApplicationContext> nodes = new ArrayList<>();

    private static List<Integer> freePorts() throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            ports.add(sockets.getLast().getLocalPort());
        }
        for (ServerSocket socket : sockets) {
            socket.close();
        }
        return ports;
    }

    @BeforeEach
    void start() throws IOException {
        List<Integer> ports = freePorts();
        String places = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        for (int machine = 0; machine < NODES; machine++) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--server.port=0",
                    "--iree.cluster.enabled=true",
                    "--iree.cluster.identity.machine=" + machine,
                    "--iree.cluster.identity.file=" + directory.resolve("machine" + machine),
                    "--iree.cluster.bind.port=" + ports.get(machine),
                    "--iree.cluster.discovery.static=" + places));
            for (int peer = 0; peer < NODES; peer++) {
                if (peer != machine) {
                    arguments.add("--iree.devices.machine%d.uri=cluster://%d/local".formatted(peer, peer));
                }
            }
            nodes.add(new SpringApplicationBuilder(SampleApplication.class)
                    .registerShutdownHook(false)
                    .run(arguments.toArray(String[]::new)));
        }
        await(NODES);
    }

    @AfterEach
    void stop() {
        nodes.reversed().forEach(ConfigurableApplicationContext::close);
    }

    private ProgramRing ring() {
        return nodes.getFirst().getBean(ProgramRing.class);
    }

    private void await(int count) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> ring().nodes().size() == count);
    }

    private void assertCounted(int count) {
        Round round = ring().run(STAGES);
        assertThat(round.nodes()).isEqualTo(count);
        assertThat(round.stages())
                .extracting(Round.Stage::result)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, STAGES).boxed().toList());
        assertThat(round.stages()).extracting(Round.Stage::axis).doesNotContain("");
        assertThat(round.stages().stream()
                        .map(stage -> stage.node() + stage.axis())
                        .distinct())
                .hasSize(count);
        assertThat(round.submitMillis()).isLessThanOrEqualTo(round.millis());
    }

    /** Another ring goes through the remaining nodes. */
    @Test
    void eachNodeTakesTheResultOfTheNodeBefore() {
        assertCounted(3);
        Programs programs = nodes.getFirst().getBean(Programs.class);
        assertThat(programs.find("count-machine2")).isPresent();
        nodes.removeLast().close();
        await(2);
        assertCounted(2);
        Awaitility.await().until(() -> programs.find("count-machine2").isEmpty());
        assertThat(programs.find("count-machine1")).isPresent();
    }

    private String address() {
        return "http://localhost:" + nodes.getFirst().getEnvironment().getProperty("local.server.port");
    }

    @Test
    void thePageShowsALaneForEachNode() {
        try (Browser browser = Browser.start()) {
            browser.open(address());
            browser.until("!document.getElementById('ring').hidden");
            browser.eval("document.getElementById('run-ring').focus()");
            browser.type(Keys.ENTER);
            browser.until("document.querySelectorAll('#lanes ol li').length === " + STAGES);
            assertThat(browser.text("#ring-answer")).startsWith("Counted to 16 on 3 nodes in ");
            assertThat(browser.text("#lanes")).contains("(m0.s1)", "(m1.s1)", "(m2.s1)", "epoch");
            for (int width : new int[] {1360, 400}) {
                browser.resize(width, 1000);
                for (boolean dark : new boolean[] {false, true}) {
                    browser.preferDark(dark);
                    browser.until("innerWidth === " + width);
                    assertThat((Long) browser.eval("document.documentElement.scrollWidth"))
                            .isLessThanOrEqualTo(width);
                    browser.picture("ring-%d-%s".formatted(width, dark ? "dark" : "light"));
                    browser.assertAccessible("the ring at %d pixels, %s".formatted(width, dark ? "dark" : "light"));
                }
            }

            nodes.removeLast().close();
            nodes.removeLast().close();
            await(1);
            browser.open(address());
            browser.until("document.getElementById('device').textContent !== '…'");
            assertThat((Boolean) browser.eval("document.getElementById('ring').hidden"))
                    .as("no section for a single node")
                    .isTrue();
            browser.assertNoErrors();
        }
    }
}
