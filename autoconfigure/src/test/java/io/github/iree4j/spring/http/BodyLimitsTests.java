package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.spring.http.RequestCounts.Reason;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ResponseStatusException;

class BodyLimitsTests {

    private static final int MEMORY = 64_000;
    private static final int MAXIMUM = 1 << 20;

    private long now = -5; // any origin
    private final BodyLimits limits = new BodyLimits(MEMORY, Duration.ofSeconds(10), 2, () -> now);

    /** A body with parts arriving during the read, none with the headers. */
    private static InputStream late(int length) {
        return new ByteArrayInputStream(new byte[length]) {
            @Override
            public synchronized int available() {
                return 0;
            }
        };
    }

    private LimitedBody body(int length) {
        return limits.receive(late(length), length, MAXIMUM, "some.property");
    }

    private static void fails(int status, String message, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ResponseStatusException.class,
                        e -> assertThat(e.getStatusCode().value()).isEqualTo(status))
                .hasMessageContaining(message);
    }

    private void advance(long millis) {
        now += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    @Test
    void announcedBytesAreNotCharged() throws IOException {
        try (LimitedBody body = body(40_000).weighing(1)) {
            assertThat(limits.inFlight()).isZero();
            body.readNBytes(100);
            assertThat(limits.inFlight()).isEqualTo(100);
        }
        assertThat(limits.inFlight()).isZero();
    }

    @Test
    void requestsTogetherAreRefusedBeyondTheLimitAndAdmittedLater() {
        LimitedBody first = body(10);
        LimitedBody second = body(10);
        first.charge(30_000);
        fails(
                503,
                "requests in flight hold 30000 of 48000 bytes that this one may use, and it needs 20000 more",
                () -> second.charge(20_000));
        first.close();
        second.charge(20_000);
        second.close();
        assertThat(limits.inFlight()).isZero();
    }

    @Test
    void refusalsTellWhenToTryAgain() {
        try (LimitedBody first = body(10);
                LimitedBody second = body(10)) {
            first.charge(40_000);
            assertThatThrownBy(() -> second.charge(20_000))
                    .isInstanceOfSatisfying(
                            ResponseStatusException.class,
                            e -> assertThat(e.getHeaders().getFirst(HttpHeaders.RETRY_AFTER))
                                    .isEqualTo("1"));
        }
    }

    @Test
    void aQuarterIsReservedForSmallRequests() {
        try (LimitedBody large = body(10);
                LimitedBody small = body(10)) {
            large.charge(48_000);
            fails(413, "takes 48001 bytes of memory, of at most 48000", () -> large.charge(1));
            small.charge(1000);
            fails(503, "iree.http.max-in-flight-size", () -> small.charge(1));
        }
    }

    @Test
    void stricterLimitsThanItsLengthAreReportedToo() {
        fails(
                413,
                "or raise 'some.property', and 'iree.http.max-in-flight-size', by which a request takes at most 48000 bytes",
                () -> body(2_000_000));
        fails(
                413,
                "larger than 1000 bytes; send less, or raise 'some.property'\"",
                () -> limits.receive(late(2000), 2000, 1000, "some.property"));
    }

    @Test
    void fixedMaximumIsToldWithoutAProperty() {
        fails(413, "larger than 1048576 bytes; send less\"", () -> limits.receive(late(0), 2_000_000, MAXIMUM, null));
    }

    @Test
    void impossibleBodyFailsBeforeItsRead() {
        InputStream unread = late(50_000);
        fails(
                413,
                "iree.http.max-in-flight-size",
                () -> limits.receive(unread, 50_000, MAXIMUM, "").weighing(1));
        assertThat(limits.awaited()).isZero();
    }

    @Test
    void closingGivesBackTheRestAndLaterChargesNothing() {
        LimitedBody body = body(10);
        body.charge(1000);
        body.refund(400);
        assertThat(limits.inFlight()).isEqualTo(600);
        body.close();
        body.close();
        body.charge(100);
        body.refund(100);
        assertThat(limits.inFlight()).isZero();
    }

    @Test
    void tooManyAwaitedBodiesAreRefused() throws IOException {
        LimitedBody first = body(10);
        LimitedBody second = body(10);
        fails(
                503,
                "the bodies of 2 requests are already awaited; try again later, or raise 'iree.http.max-concurrent-bodies'",
                () -> body(10));
        first.readNBytes(10); // has arrived
        assertThat(limits.awaited()).isEqualTo(1);
        body(10).close();
        second.close();
        assertThat(limits.awaited()).isZero();
        first.close();
    }

    @Test
    void arrivedBodyIsNotAwaited() throws IOException {
        LimitedBody first = body(10);
        LimitedBody second = body(10);
        byte[] sent = {1, 2, 3};
        try (LimitedBody here = limits.receive(new ByteArrayInputStream(sent), 3, MAXIMUM, "")) {
            assertThat(here.readAllBytes()).isEqualTo(sent);
        }
        limits.receive(late(0), 0, MAXIMUM, "").close();
        first.close();
        second.close();
    }

    @Test
    void slowBodyIsEnded() throws IOException {
        try (LimitedBody body = body(1000)) {
            body.read();
            advance(10_000);
            body.read();
            advance(1);
            fails(
                    408,
                    "the body is too slow: 3 bytes in 10001 ms; send it faster, or raise 'iree.http.body-timeout'",
                    body::read);
        }
        assertThat(limits.awaited()).isZero();
    }

    @Test
    void steadilyArrivingBodyMayTakeLonger() throws IOException {
        try (LimitedBody body = body(1 << 20)) {
            body.readNBytes(1 << 17); // two seconds' worth
            advance(11_999);
            body.read();
            advance(2);
            fails(408, "131074 bytes", body::read);
        }
    }

    private LimitedBody unread(long bytes) {
        LimitedBody request = body(0);
        request.chargeAnswer(bytes);
        request.answered();
        return request;
    }

    @Test
    void unreadAnswersLeaveHalfOfTheMemoryToOthers() {
        try (LimitedBody _ = unread(20_000);
                LimitedBody _ = unread(12_000);
                LimitedBody other = body(0);
                LimitedBody small = body(0)) {
            fails(
                    503,
                    "answers that clients have not read hold 32000 of 32000 bytes that this one may use, and it needs 1001; try again later, or raise 'iree.http.max-in-flight-size'",
                    () -> other.chargeAnswer(1001));
            assertThat(limits.inUnreadAnswers()).isEqualTo(32_000);
            other.charge(16_000); // the bytes sent
            small.chargeAnswer(1000);
        }
        assertThat(limits.inUnreadAnswers()).isZero();
        assertThat(limits.unreadAnswers()).isZero();
        assertThat(limits.inFlight()).isZero();
    }

    @Test
    void aSingleAnswerMayHaveTheShareOfARequest() {
        try (LimitedBody large = unread(48_000)) {
            assertThat(limits.inUnreadAnswers()).isEqualTo(48_000);
            assertThat(large.isGivenUp()).isFalse();
        }
    }

    @Test
    void anAnswerFittingTheShareButNotTheMemoryIsNotChargedAtAll() {
        try (LimitedBody sent = body(0);
                LimitedBody other = body(0)) {
            sent.charge(40_000);
            fails(503, "requests in flight hold 40000 of 48000 bytes", () -> other.chargeAnswer(10_000));
            assertThat(limits.inUnreadAnswers()).isZero();
        }
    }

    @Test
    void theBytesOfARequestAreGivenBackOnceItsAnswerIsMade() {
        try (LimitedBody request = body(0)) {
            request.charge(10_000);
            request.chargeAnswer(5000);
            assertThat(limits.unreadAnswers()).isZero();
            request.answered();
            assertThat(limits.inFlight()).isEqualTo(5000);
            assertThat(limits.unreadAnswers()).isEqualTo(1);
        }
    }

    @Test
    void answersGiveWayOnceOthersAreRefusedAndTheirClientsHadTheTimeOfABody() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        LimitedBody largest = unread(16_000);
        try (LimitedBody first = unread(12_000);
                LimitedBody other = body(0)) {
            largest.endUnread(ended::countDown);
            advance(10_000);
            fails(503, "", () -> other.chargeAnswer(8000));
            assertThat(largest.isGivenUp()).as("had its time").isFalse();
            advance(1);
            assertThat(largest.isGivenUp()).as("while there is memory").isFalse();
            fails(503, "", () -> other.chargeAnswer(8000));
            fails(503, "", () -> other.chargeAnswer(8000));
            assertThat(largest.isGivenUp()).isTrue();
            assertThat(first.isGivenUp()).as("that is enough").isFalse();
            ended.await();
            largest.close();
            other.chargeAnswer(8000);
        }
        assertThat(limits.counts().refused(Reason.MEMORY)).isEqualTo(3);
        assertThat(limits.counts().refused(Reason.UNREAD)).isEqualTo(1);
    }

    @Test
    void theEndOfAYieldingAnswerMayBeReportedLater() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        try (LimitedBody answer = unread(30_000)) {
            answer.keeping(() -> {});
            advance(10_001);
            limits.makePlace();
            answer.endUnread(ended::countDown);
            ended.await();
        }
    }

    @Test
    void ofAnswersKeepingPlacesTheLongestUnreadGivesItsPlaceBack() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        try (LimitedBody large = unread(30_000);
                LimitedBody first = unread(1);
                LimitedBody second = unread(2)) {
            large.keeping(() -> {});
            large.keeping(null);
            first.keeping(left::countDown);
            second.keeping(() -> {});
            advance(10_000);
            limits.makePlace();
            assertThat(first.isGivenUp()).as("had its time").isFalse();
            advance(1);
            try (LimitedBody third = unread(3)) {
                third.keeping(() -> {});
                limits.makePlace();
                limits.makePlace();
                limits.makePlace();
                assertThat(third.isGivenUp()).as("its time has begun").isFalse();
            }
            left.await(); // before the connection ends
            assertThat(first.isGivenUp()).isTrue();
            assertThat(second.isGivenUp()).isTrue();
            assertThat(large.isGivenUp()).as("keeps no place").isFalse();
        }
    }

    @Test
    void theWriterOfAYieldingAnswerFails() throws IOException {
        try (LimitedBody answer = unread(30_000)) {
            OutputStream out = answer.timed(OutputStream.nullOutputStream());
            out.write(new byte[100]);
            answer.keeping(() -> {});
            advance(10_001);
            limits.makePlace();
            assertThatThrownBy(() -> out.write(new byte[100]))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(
                            "others need the memory or the place of an answer that the client has not read: 200 bytes read in 10001 ms");
        }
    }

    @Test
    void refusalsAreCountedByReason() {
        LimitedBody first = body(10);
        LimitedBody second = body(10);
        assertThatThrownBy(() -> body(10)).isInstanceOf(ResponseStatusException.class);
        first.charge(48_000);
        assertThatThrownBy(() -> second.charge(1000 + 1)).isInstanceOf(ResponseStatusException.class);
        assertThatThrownBy(() -> body(2_000_000)).isInstanceOf(ResponseStatusException.class);
        assertThatThrownBy(() -> second.charge(60_000)).isInstanceOf(ResponseStatusException.class);
        advance(10_001);
        assertThatThrownBy(second::read).isInstanceOf(ResponseStatusException.class);
        first.close();
        second.close();
        Map<Reason, Long> refused = new EnumMap<>(Reason.class);
        for (Reason each : Reason.values()) {
            refused.put(each, limits.counts().refused(each));
        }
        assertThat(refused)
                .containsEntry(Reason.BODIES, 1L)
                .containsEntry(Reason.MEMORY, 1L)
                .containsEntry(Reason.SIZE, 2L)
                .containsEntry(Reason.SLOW, 1L)
                .containsEntry(Reason.UNREAD, 0L);
    }

    @Test
    void aProblemNamesTheHoldersOfTheMemoryUntilNothingIsRefusedAnyMore() {
        RequestProblems problems = new RequestProblems(limits);
        Duration patience = Duration.ofSeconds(30);
        assertThat(problems.find(patience)).isEmpty();
        try (LimitedBody _ = unread(20_000);
                LimitedBody _ = unread(8000);
                LimitedBody sent = body(0);
                LimitedBody refused = body(0)) {
            sent.charge(5000);
            fails(503, "", () -> refused.charge(16_000));
            advance(1000);
            problems.find(patience);
            fails(503, "", () -> refused.charge(16_000));
            advance(1000);
            assertThat(problems.find(patience)).singleElement().satisfies(problem -> {
                assertThat(problem.kind()).isEqualTo("refused-requests");
                assertThat(problem.summary())
                        .isEqualTo(
                                "requests are refused because memory for requests is held by 2 unread answers (28000 bytes) and 2 bodies (5000 bytes): the last one, 1 s ago, needed 1000 bytes more than the 48000 that it may use");
                assertThat(problem.remedy())
                        .startsWith("raise 'iree.http.max-in-flight-size', which is 64000 bytes, or");
                assertThat(problem.since()).isEqualTo(Duration.ofSeconds(2));
            });
        }
        advance(29_000);
        assertThat(problems.find(patience)).hasSize(1);
        advance(1);
        assertThat(problems.find(patience)).isEmpty();
    }

    /** The same rule as for bodies. */
    @Test
    void tooSlowlyReadAnswersAreGivenUp() throws IOException {
        try (LimitedBody request = body(0)) {
            OutputStream answer = request.timed(new OutputStream() {
                @Override
                public void write(int value) {}

                @Override
                public void write(byte[] bytes, int offset, int length) {
                    assertThat(length).isLessThanOrEqualTo(1 << 14);
                    advance(1000);
                }
            });
            answer.write(new byte[10 << 14]); // ten parts, a second each
            assertThatThrownBy(() -> answer.write(new byte[10 << 14]))
                    .isInstanceOf(IOException.class)
                    .hasMessage(
                            "the client is too slow: 229376 bytes read in 14000 ms; raise 'iree.http.body-timeout' if it may be");
        }
    }

    @Test
    void silenceEndedByTheServerIsReported() {
        InputStream silent = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new SocketTimeoutException();
            }
        };
        try (LimitedBody body = limits.receive(silent, 5, MAXIMUM, "")) {
            fails(408, "0 bytes in", body::read);
        }
    }

    @Test
    void bodiesBeyondTheMaximumAreRefused() {
        fails(
                413,
                "the body of 2000000 bytes is larger than 1048576 bytes; send less, or raise 'some.property'",
                () -> body(2_000_000));
        LimitedBody unknown = limits.receive(late(11), -1, 10, "some.property");
        fails(413, "without a length", unknown::readAllBytes);
        unknown.close();
    }
}
