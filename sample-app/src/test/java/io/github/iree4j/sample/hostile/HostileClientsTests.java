package io.github.iree4j.sample.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The sample with a heap of 256 MB under attack, on either web stack: a bystander is answered within a second of the
 * processors' time left by other processes, and mostly with a result, the process has at most {@link #MOST} bytes and
 * no OutOfMemoryError, and all memory comes back.
 */
@Tag("nightly")
@Timeout(900)
class HostileClientsTests {
    /** Rows of 16 MB. */
    private static final int ROWS = 1 << 16;

    private static final long MB = 1 << 20;
    private static final long MOST = 900 * MB;

    /** Seconds for 99 of 100 requests of a bystander, on an otherwise idle machine. */
    private static final double SLOWEST = 1;

    /** The share of the bystander's pictures computed. */
    private static final double SERVED = 0.5;

    /** The most characters of the log. */
    private static final int LOG = 50_000;

    private static final int END = 4_000;

    @TempDir
    Path directory;

    /** An attack; returns when the bystander has seen enough. */
    @FunctionalInterface
    private interface Attack {
        void run(HostileClients clients) throws Exception;
    }

    private void attack(String stack, String what, Attack attack) throws Exception {
        try (SampleProcess sample = new SampleProcess(stack, directory)) {
            HostileClients calm = new HostileClients(sample.port());
            byte[] picture = HostileClients.json("/v2/models/digits/infer", HostileClients.PICTURE);
            for (int i = 0; i < 200; i++) {
                assertThat(calm.exchange(picture)).isEqualTo(200);
                assertThat(calm.get("/livez")).contains("UP");
            }
            long before = sample.peakMemory();
            HostileClients operator = new HostileClients(sample.managementPort());
            if (stack.equals("servlet")) {
                assertThat(operator.get("/actuator/prometheus"))
                        .contains(
                                "tomcat_connections_current_connections{",
                                "tomcat_connections_config_max_connections{");
            }
            String idle = live(operator);
            String said;
            boolean alive;
            Share share = new Share(sample.process());
            double seconds;
            Bystander bystander = new Bystander(sample.port());
            try (HostileClients clients = new HostileClients(sample.port())) {
                attack.run(clients);
            } finally {
                bystander.stop();
            }
            alive = sample.isAlive();
            seconds = alive ? SLOWEST / share.get() : SLOWEST;
            said = "%s, %s: %s; at most %.3f s; memory %d MB, before %d MB%s"
                    .formatted(
                            what,
                            stack,
                            bystander,
                            seconds,
                            alive ? sample.peakMemory() / MB : -1,
                            before / MB,
                            alive ? "" : "; IT HAS ENDED");
            System.out.println("hostile: " + said);
            assertThat(alive).as("alive, " + said + sample.log()).isTrue();
            assertThat(sample.log()).doesNotContain("OutOfMemoryError");
            assertThat(sample.peakMemory()).as(said).isLessThan(MOST);
            assertThat(bystander.health()).as(said).isLessThan(seconds);
            assertThat(bystander.pictures()).as(said).isLessThan(seconds);
            assertThat(bystander.healthServed()).as(said).isEqualTo(1);
            assertThat(bystander.picturesServed()).as(said).isGreaterThan(SERVED);
            String log = sample.log();
            assertThat(log.length())
                    .as("log, %s; its end: %s", said, log.substring(Math.max(0, log.length() - END)))
                    .isLessThan(LOG);
            assertThat(calm.exchange(picture)).as("afterwards").isEqualTo(200);
            while (!live(operator).equals(idle)) {
                pause(100); // the class's timeout fails what stays
            }
        }
    }

    private static final Pattern LIVE = Pattern.compile("\"live\":(\\d+)");

    /** Memory in use on the devices. */
    private static String live(HostileClients clients) throws IOException {
        Matcher live = LIVE.matcher(clients.get("/actuator/iree/pools"));
        assertThat(live.find()).isTrue();
        return live.group(1);
    }

    /** Lets time pass in the tested process. */
    private static void pause(long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    private static void dribbleFor(HostileClients clients, int seconds) {
        for (int i = 0; i < seconds; i++) {
            pause(1000);
            clients.dribble();
        }
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void claimsOfContents(String stack) throws Exception {
        attack(stack, "150 claims of 16 MB in binary", clients -> {
            clients.begin(150, HostileClients.binaryClaim(ROWS - 64, 100));
            pause(8000);
        });
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void claimsOfTensors(String stack) throws Exception {
        attack(stack, "150 claims of 16 MB in tensors", clients -> {
            clients.begin(150, HostileClients.tensorClaim(ROWS, 100));
            pause(8000);
        });
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void claimsOfElements(String stack) throws Exception {
        String body = "{\"inputs\":[{\"name\":\"input0\",\"shape\":[131000,64],\"datatype\":\"FP32\",\"data\":[1,2,3";
        attack(stack, "500 claims of 8 million elements", clients -> {
            clients.begin(500, HostileClients.json("/v2/models/digits/infer", 16 * MB, body));
            pause(8000);
        });
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void dribblingBodies(String stack) throws Exception {
        String question = "{\"pixels\":[";
        attack(stack, "500 clients that dribble", clients -> {
            clients.begin(200, HostileClients.json("/v2/models/digits/infer", 1000, "{\"inputs\":["));
            clients.begin(100, HostileClients.json("/digits", 1000, question));
            clients.begin(100, HostileClients.json("/models/digits/classify", 1000, "{\"inputs\":["));
            clients.begin(50, HostileClients.json("/infer", 1000, "{\"shape\":["));
            clients.begin(50, HostileClients.tensorClaim(16, 100));
            dribbleFor(clients, 15);
        });
    }

    private static final int LARGE = 7 << 20;

    @ParameterizedTest
    @CsvSource({
        "servlet,early",
        "servlet,nesting",
        "servlet,number",
        "servlet,names",
        "servlet,digits",
        "servlet,models",
        "servlet,infer",
        "servlet,string",
        "servlet,strings",
        "reactive,early",
        "reactive,nesting",
        "reactive,number",
        "reactive,names",
        "reactive,digits",
        "reactive,models",
        "reactive,infer",
        "reactive,string",
        "reactive,strings"
    })
    void bombs(String stack, String kind) throws Exception {
        String begins = "{\"inputs\":[{\"data\":[";
        byte[] request = switch (kind) {
            case "early" ->
                HostileClients.json(
                        "/v2/models/digits/infer",
                        begins + "1,".repeat(LARGE) + "1],\"shape\":[1,64],\"datatype\":\"FP32\"}]}");
            case "nesting" -> HostileClients.json("/v2/models/digits/infer", "{\"x\":" + "[".repeat(2 * LARGE) + "]");
            case "number" ->
                HostileClients.json(
                        "/v2/models/digits/infer",
                        "{\"inputs\":[{\"name\":\"input0\",\"shape\":[" + "1".repeat(2 * LARGE) + "]}]}");
            case "names" -> HostileClients.json("/v2/models/digits/infer", "{" + names() + "}");
            case "digits" -> HostileClients.json("/digits", "{\"pixels\":[" + "1,".repeat(LARGE) + "1]}");
            case "models" ->
                HostileClients.json("/models/digits/classify", "{\"inputs\":[" + "1,".repeat(LARGE) + "1]}");
            case "infer" -> HostileClients.json("/infer", "{\"data\":[" + "1,".repeat(LARGE) + "1],\"shape\":[1,64]}");
            case "string" ->
                HostileClients.json("/v2/models/digits/infer", "{\"id\":\"" + "x".repeat(2 * LARGE) + "\"}");
            default ->
                HostileClients.json(
                        "/v2/models/digits/infer",
                        begins + ("\"" + "x".repeat(4000) + "\",").repeat(LARGE / 2000) + "1]}]}");
        };
        attack(stack, "16 bombs at a time: " + kind, clients -> {
            List<Integer> statuses = together(clients, request, 16, 4);
            System.out.println(
                    "hostile: statuses " + statuses.stream().distinct().toList());
        });
    }

    private static String names() {
        StringBuilder all = new StringBuilder();
        for (int i = 0; all.length() < 2 * LARGE; i++) {
            all.append('"').append(Integer.toString(i, 36)).append("\":1,");
        }
        return all.append("\"x\":1").toString();
    }

    private static List<Integer> together(HostileClients clients, byte[] request, int threads, int each)
            throws Exception {
        List<Integer> statuses = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<Future<Integer>> sent = new ArrayList<>();
            for (int i = 0; i < threads * each; i++) {
                sent.add(pool.submit(() -> clients.exchange(request)));
            }
            for (Future<Integer> one : sent) {
                statuses.add(one.get());
            }
        }
        return statuses;
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void floods(String stack) throws Exception {
        attack(stack, "16 clients with 8 MB each, again and again", clients -> {
            int rows = 1 << 15;
            List<Integer> tensors = together(clients, HostileClients.tensorClaim(rows, 256 * rows), 16, 6);
            List<Integer> contents = together(clients, HostileClients.binaryClaim(rows, 256 * rows), 16, 6);
            tensors.addAll(contents);
            System.out.println("hostile: statuses " + counts(tensors));
        });
    }

    private static String counts(List<Integer> statuses) {
        StringBuilder said = new StringBuilder();
        statuses.stream()
                .distinct()
                .sorted()
                .forEach(status -> said.append(status)
                        .append(" x ")
                        .append(statuses.stream().filter(status::equals).count())
                        .append(' '));
        return said.toString();
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void halfClosedConnections(String stack) throws Exception {
        attack(stack, "200 clients with half of the connection closed", clients -> {
            List<Integer> statuses = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                statuses.add(clients.exchangeHalf(HostileClients.binaryClaim(ROWS - 64, 5000)));
                statuses.add(clients.exchangeHalf(HostileClients.tensorClaim(ROWS, 5000)));
            }
            System.out.println("hostile: statuses " + counts(statuses));
        });
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void disconnects(String stack) throws Exception {
        attack(stack, "3,000 clients that leave", clients -> {
            byte[][] requests = {
                HostileClients.binaryClaim(ROWS - 64, 5000),
                HostileClients.tensorClaim(ROWS, 5000),
                HostileClients.binaryClaim(LITTLE, 256 * LITTLE),
                HostileClients.json("/v2/models/digits/infer", 1000, "{\"inputs\":["),
                HostileClients.json("/v2/models/digits/infer", HostileClients.PICTURE)
            };
            for (int i = 0; i < 3_000; i++) {
                try (Socket leaving = clients.connect()) {
                    leaving.setSoLinger(true, i % 2); // every other one resets the connection
                    leaving.getOutputStream().write(requests[i % requests.length]);
                }
            }
        });
    }

    private static final int LITTLE = 4096; // rows of 1 MB

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void clientsWithoutReading(String stack) throws Exception {
        attack(stack, "100 clients without reading an answer", clients -> {
            clients.begin(100, HostileClients.binaryAnswer(LITTLE));
            pause(8000);
        });
    }

    @ParameterizedTest
    @CsvSource({"servlet", "reactive"})
    void hasteAndLeisure(String stack) throws Exception {
        attack(stack, "clients with timeouts of 1 us and of 285 years", clients -> {
            for (long timeout : new long[] {1, 9_000_000_000_000_000L}) {
                byte[] request = HostileClients.json(
                        "/v2/models/digits/infer",
                        HostileClients.PICTURE.replaceFirst(
                                "\\{", "{\"parameters\":{\"timeout\":%d},".formatted(timeout)));
                System.out.println("hostile: statuses " + counts(together(clients, request, 16, 60)));
            }
        });
    }
}
