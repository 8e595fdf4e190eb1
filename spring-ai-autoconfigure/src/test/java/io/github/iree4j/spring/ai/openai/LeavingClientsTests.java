package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that close their connections, and clients that are too many. */
class LeavingClientsTests extends OpenAiServer {

    private static final int PROMPT = 20;

    private Socket send(String path, String body) throws IOException {
        return send(port, path, body);
    }

    static Socket send(int port, String path, String body) throws IOException {
        Socket socket = new Socket("localhost", port);
        socket.getOutputStream()
                .write(
                        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                                .formatted(path, body.length(), body)
                                .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Reads up to the first event of a stream. */
    static void awaitEvent(Socket socket) throws IOException {
        BufferedReader reader =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        while (!reader.readLine().startsWith("data: ")) {}
    }

    /** Allows tokens until the request is cancelled, and returns how many the request has taken since. */
    private int tokensUntilTheEnd(Semaphore steps) throws InterruptedException {
        for (int taken = 0; ; taken++) {
            if (script.cancelled().await(taken == 0 ? 20 : 500, TimeUnit.MILLISECONDS)) {
                return taken;
            }
            assertThat(taken).isLessThan(100);
            steps.release();
        }
    }

    @ParameterizedTest
    @CsvSource({"true, false", "true, true", "false, false", "false, true"})
    void aLeavingClientEndsItsRequestAtTheNextTokens(boolean stream, boolean reset) throws Exception {
        script.answer("x".repeat(1000));
        Semaphore steps = script.steps();
        try (Socket socket = send(CHAT, with(HELLO, "\"stream\": " + stream))) {
            script.awaitRequests(1);
            if (stream) {
                steps.release(3);
                BufferedReader reader =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                for (int texts = 0; texts < 3; ) {
                    texts += reader.readLine().contains("\"content\":\"x\"") ? 1 : 0;
                }
            }
            assertThat(script.cancelled().getCount()).isOne();
            if (reset) {
                socket.setSoLinger(true, 0);
            }
        }
        assertThat(tokensUntilTheEnd(steps)).isLessThanOrEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"true, false", "true, true", "false, false", "false, true"})
    void aLeavingClientEndsItsRequestBeforeTheFirstToken(boolean stream, boolean reset) throws Exception {
        script.answer("x".repeat(1000));
        script.steps();
        try (Socket socket = send(CHAT, with(HELLO, "\"stream\": " + stream))) {
            script.awaitRequests(1);
            if (stream) {
                awaitEvent(socket); // without a token
            }
            if (reset) {
                socket.setSoLinger(true, 0);
            }
        }
        assertThat(script.cancelled().await(100, TimeUnit.SECONDS)).isTrue();
    }

    /** The body says how long the prompt is: of a long prompt, the number of tokens is looked up before. */
    @ParameterizedTest
    @CsvSource({"1, false", "1, true", "30000, false", "30000, true"})
    void aLeavingClientEndsItsRequestWhileTheModelLoads(int length, boolean reset) throws Exception {
        script.answer("x");
        CountDownLatch loaded = script.load();
        try {
            try (Socket socket = send(CHAT, HELLO.replace("Hi", "x".repeat(length)))) {
                script.awaitRequests(1);
                if (reset) {
                    socket.setSoLinger(true, 0);
                }
            }
            script.awaitLeaving();
        } finally {
            loaded.countDown();
        }
        assertThat(answer(CHAT, HELLO).path("choices").size()).isOne();
    }

    @Test
    void aStayingClientIsAnsweredAfterTheLoad() throws Exception {
        script.answer("x");
        CountDownLatch loaded = script.load();
        CompletableFuture<HttpResponse<String>> running =
                http.sendAsync(to(CHAT).POST(BodyPublishers.ofString(HELLO)).build(), BodyHandlers.ofString());
        try {
            script.awaitRequests(1);
            try (Socket _ = send(CHAT, HELLO)) {
                script.awaitRequests(1);
            }
            script.awaitLeaving();
        } finally {
            loaded.countDown();
        }
        assertThat(running.join().statusCode()).isEqualTo(200);
    }

    @Test
    void aLeavingClientIsNoticedWhileItsTextIsHeldBack() throws Exception {
        script.answer("<tool_call>" + "x".repeat(1000));
        Semaphore steps = script.steps();
        try (Socket _ = send(CHAT, with(with(HELLO, OpenAiInterfaceTests.TOOLS), "\"stream\": true"))) {
            script.awaitRequests(1);
            steps.release(PROMPT);
        }
        assertThat(tokensUntilTheEnd(steps)).isLessThanOrEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void requestsBeyondTheLimitAreToldToComeLater(boolean stream) throws Exception {
        script.answer("yes");
        Semaphore steps = script.steps();
        List<CompletableFuture<HttpResponse<String>>> running = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            running.add(http.sendAsync(
                    to(CHAT).POST(BodyPublishers.ofString(with(HELLO, "\"stream\": " + stream)))
                            .build(),
                    BodyHandlers.ofString()));
        }
        script.awaitRequests(3);
        HttpResponse<String> refused = post(CHAT, HELLO);
        assertThat(error(refused, 429).path("code").stringValue()).isEqualTo("rate_limit_exceeded");
        assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
        steps.release(1000);
        for (CompletableFuture<HttpResponse<String>> each : running) {
            assertThat(each.join().statusCode()).isEqualTo(200);
        }
    }
}
