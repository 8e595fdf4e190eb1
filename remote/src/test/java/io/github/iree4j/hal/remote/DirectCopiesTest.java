package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.copying.CopyingDevice;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Copies between devices of two other nodes: the bytes do not pass the submitting node. */
@Timeout(120)
class DirectCopiesTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final BufferParams FAR = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    private ThreeCpus cluster = new ThreeCpus(5, 1);

    @AfterEach
    void close() throws Exception {
        cluster.close();
    }

    private <T extends AutoCloseable> T opened(T object) {
        return cluster.opened(object);
    }

    private Buffer filled(Device device, byte[] bytes) {
        Buffer buffer = opened(device.allocator().allocate(FAR, bytes.length));
        buffer.write(0, MemorySegment.ofArray(bytes));
        return buffer;
    }

    private static byte[] bytes(Buffer buffer) {
        byte[] all = new byte[(int) buffer.length()];
        buffer.read(0, MemorySegment.ofArray(all));
        return all;
    }

    private static byte[] random(long seed, int length) {
        byte[] all = new byte[length];
        new Random(seed).nextBytes(all);
        return all;
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("the time limit").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    /** Bytes of BULK received by a node. */
    private long received(int node) {
        return cluster.nodes.get(node - 1).sessions().stream()
                .flatMap(each -> each.statistics().streams().stream())
                .filter(each -> each.stream() == PeerStream.BULK)
                .mapToLong(RemoteStreamStatistics::bytesReceived)
                .sum();
    }

    private Fence copy(Fence wait, Device to, Buffer source, long from, Buffer target, long at, long length) {
        Fence done = opened(Fence.adopt(TimelineSemaphore.create(0), 1));
        CopyingDevice.of(to, "").queue(0).copy(wait, done, source, from, target, at, length, 0);
        return done;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 17, 4096, 100_000, 3 << 20})
    void theBytesGoFromNodeToNode(int length) {
        byte[] given = random(length, length + 9);
        Buffer source = filled(cluster.far(2, 1), given);
        Device three = cluster.far(3, 1);
        Buffer target = filled(three, new byte[length + 30]);
        long before = received(1);
        copy(null, three, source, 4, target, 11, length).await(LIMIT);
        assertThat(received(1)).as("bytes at node 1").isEqualTo(before);
        byte[] expected = new byte[length + 30];
        System.arraycopy(given, 4, expected, 11, length);
        assertThat(bytes(target)).isEqualTo(expected);
    }

    @Test
    void aCopyOfAConstantHasTheStoresOfItsCall() {
        Device two = cluster.far(2, 1);
        Device three = cluster.far(3, 1);
        Buffer target = filled(three, new byte[16]);
        SealedMemory memory = opened(SealedMemory.create(16));
        memory.writable().fill((byte) 7);
        BufferParams params = new BufferParams(FAR.memoryType(), FAR.usage() | BufferUsage.SHARING_IMMUTABLE)
                .withAccess(MemoryAccess.READ);
        Buffer constant = opened(two.allocator().importHost(params, memory.seal(), null));
        for (int at : new int[] {4, 8}) {
            MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
            MemoryHolder before = call.enter();
            try {
                Fence filled = opened(Fence.adopt(TimelineSemaphore.create(0), 1));
                two.queue(0).fill(null, filled, constant, at, 4, 9, 1, 0);
                Fence copied = copy(filled, three, constant, 0, target, 0, 16);
                copied.await(LIMIT);
            } finally {
                call.leave(before);
                call.end();
            }
            byte[] expected = new byte[16];
            Arrays.fill(expected, (byte) 7);
            Arrays.fill(expected, at, at + 4, (byte) 9);
            assertThat(bytes(target)).isEqualTo(expected);
        }
    }

    @Test
    void theBytesOfASecondDeviceOfTheSameNodeStayThere() {
        byte[] given = random(2, 5000);
        Buffer source = filled(cluster.far(2, 1), given);
        Device again = cluster.far(2, 1);
        Buffer target = filled(again, new byte[5000]);
        long before = received(1);
        copy(null, again, source, 0, target, 0, 5000).await(LIMIT);
        assertThat(received(1)).isEqualTo(before);
        assertThat(bytes(target)).isEqualTo(given);
    }

    /**
     * Node 2 has a single lane, with a head that waits for the copy: a command of that lane would wait for its own end.
     */
    @Test
    void aCopyDoesNotWaitForTheLaneOfTheSource() {
        Device two = cluster.far(2, 1);
        Device three = cluster.far(3, 1);
        Buffer source = filled(two, random(3, 100));
        Buffer target = filled(three, new byte[100]);
        Fence start = opened(Fence.adopt(TimelineSemaphore.create(0), 1));
        Fence copied = copy(start, three, source, 0, target, 0, 100);
        Fence filled = opened(Fence.adopt(TimelineSemaphore.create(0), 1));
        two.queue(0).fill(copied, filled, source, 0, 100, 7, 1, 0);
        start.semaphore(0).signal(1);
        filled.await(LIMIT);
        assertThat(bytes(target)).isEqualTo(random(3, 100));
        assertThat(bytes(source)).containsOnly(7);
    }

    @Test
    void fewBytesBehindACommandOfTheirNodeAreRequestedBeforeItsEnd() {
        Device two = cluster.far(2, 1);
        Device three = cluster.far(3, 1);
        Buffer source = filled(two, random(3, 100));
        Buffer target = filled(three, new byte[100]);
        cluster.links.getFirst().hold(PeerStream.QUEUE, true); // from 1 to 2: the command
        Fence filled = opened(Fence.adopt(TimelineSemaphore.create(0), 1));
        two.queue(0).fill(null, filled, source, 0, 100, 7, 1, 0);
        Fence copied = copy(filled, three, source, 0, target, 0, 100);
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        await(() -> serving.inProgress() > 0);
        assertThat(filled.isReached()).isFalse();
        cluster.links.getFirst().hold(PeerStream.QUEUE, false);
        copied.await(LIMIT);
        assertThat(bytes(target)).containsOnly(7);
        await(() -> serving.inProgress() == 0);
    }

    /** Bytes in the first memory of node 2, granted to node 3 by node 1, as for a command at node 3. */
    private FetchedRange range(Device two, byte[] given) {
        filled(two, given);
        return granted(given.length);
    }

    private FetchedRange granted(int length) {
        ServerObject memory = cluster.nodes.get(1).session(1).server().objects().find(1);
        byte[] grant = Objects.requireNonNull(memory.key()).grant(1, 0, length, 3);
        memory.release();
        return new FetchedRange(1, 2, 1, 0, length, grant);
    }

    private FetchFile file(FetchedRange range) {
        return opened(new FetchFile(cluster.nodes.get(2), range));
    }

    private FetchFile file(Device two, byte[] given) {
        return file(range(two, given));
    }

    private static byte[] read(FetchFile file) {
        byte[] bytes = new byte[(int) file.length()];
        CompletableFuture<@Nullable IreeException> end = new CompletableFuture<>();
        file.startRead(0, MemorySegment.ofArray(bytes), (_, failure) -> end.complete(failure));
        IreeException failure = end.orTimeout(60, TimeUnit.SECONDS).join();
        if (failure != null) {
            throw failure;
        }
        return bytes;
    }

    /** An axis of node 1, with or without a lane at node 2. */
    private static long axis(int ordinal) {
        return Axis.of(1, 1, CausalDomain.QUEUE, ordinal);
    }

    private Fetches fetches() {
        return cluster.nodes.get(2).session(2).fetches();
    }

    private long laneOfTwo() {
        return cluster.nodes.get(1).session(1).servedLanes().getFirst().axis();
    }

    /**
     * The epoch of another node may imply epochs of the node with the bytes; the command need not name implied epochs.
     */
    @Test
    void bytesBehindACommandOfAnotherNodeAreNotAskedForAhead() {
        FetchFile file = file(cluster.far(2, 1), random(10, 64));
        file.askAhead(List.of(new LanePoint(2, laneOfTwo(), 1 << 20), new LanePoint(3, axis(1), 1)));
        assertThat(fetches().asked()).isZero();
        assertThat(read(file)).isEqualTo(random(10, 64));
    }

    @Test
    void bytesMissingAheadAreRequestedAgain() {
        FetchFile file = file(cluster.far(2, 1), random(11, 64));
        file.askAhead(List.of(new LanePoint(2, axis(77), 1))); // no such lane
        assertThat(read(file)).isEqualTo(random(11, 64));
        await(() -> fetches().asked() == 0);
    }

    @Test
    void aCommandEndingBeforehandWithdrawsItsBytes() {
        Device two = cluster.far(2, 1);
        FetchFile file = file(two, random(12, 64));
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        file.askAhead(List.of(new LanePoint(2, laneOfTwo(), 1 << 20))); // never reached
        assertThat(fetches().asked()).isOne();
        await(() -> serving.inProgress() == 1);
        file.close();
        assertThat(fetches().asked()).isZero();
        await(() -> serving.inProgress() == 0);
    }

    @Test
    void theEndOfTheSessionWithdrawsTheBytes() {
        FetchFile file = file(cluster.far(2, 1), random(13, 64));
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        file.askAhead(List.of(new LanePoint(2, laneOfTwo(), 1 << 20)));
        await(() -> serving.inProgress() == 1);
        cluster.loopback.cut(cluster.links.getLast());
        await(() -> serving.inProgress() == 0);
        assertThat(catchThrowableOfType(IreeException.class, () -> read(file)).code())
                .isEqualTo(StatusCode.UNAVAILABLE);
    }

    /** The bytes of a client's commands, however many and small, are few requests between two other nodes. */
    @Test
    void manyRangesAreNotAskedForAhead() {
        Device two = cluster.far(2, 1);
        FetchedRange range = range(two, random(14, 64));
        FetchFile file = file(range);
        List<LanePoint> never = List.of(new LanePoint(2, laneOfTwo(), 1 << 20));
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        List<FetchFile> all = new ArrayList<>();
        for (int i = 0; i < Fetches.AHEAD_LIMIT + 5; i++) {
            all.add(new FetchFile(cluster.nodes.get(2), range));
            all.getLast().askAhead(never);
        }
        assertThat(fetches().asked()).isEqualTo(Fetches.AHEAD_LIMIT);
        assertThat(read(file)).isEqualTo(random(14, 64));
        all.forEach(FetchFile::close);
        await(() -> serving.inProgress() == 0);
        file.askAhead(Collections.nCopies(Fetches.POINTS_LIMIT + 1, never.getFirst()));
        assertThat(fetches().asked()).isZero();
    }

    @Test
    void nodesWithoutASessionCopyThroughTheClient() throws Exception {
        cluster.close();
        cluster = ThreeCpus.apart(6, 1);
        byte[] given = random(4, 70_000);
        Buffer source = filled(cluster.far(2, 1), given);
        Device three = cluster.far(3, 1);
        Buffer target = filled(three, new byte[70_000]);
        long before = received(1);
        copy(null, three, source, 0, target, 0, 70_000).await(LIMIT);
        assertThat(received(1) - before).isGreaterThanOrEqualTo(70_000);
        assertThat(bytes(target)).isEqualTo(given);
    }

    @Test
    void nodesThatLoseEachOtherCopyThroughTheClientAfterwards() {
        byte[] given = random(5, 70_000);
        Device two = cluster.far(2, 1);
        Buffer source = filled(two, given);
        Device three = cluster.far(3, 1);
        Buffer target = filled(three, new byte[70_000]);
        assertThat(three.canCopyFrom(two)).isTrue();
        cluster.loopback.cut(cluster.links.getLast());
        await(() -> !three.canCopyFrom(two)); // both nodes report to the first
        copy(null, three, source, 0, target, 0, 70_000).await(LIMIT);
        assertThat(bytes(target)).isEqualTo(given);
    }

    /** Whatever either node has against the other, a client has to know only of a missing node. */
    @ParameterizedTest
    @EnumSource(
            value = StatusCode.class,
            names = {"UNAVAILABLE", "DATA_LOSS", "RESOURCE_EXHAUSTED", "ABORTED", "CANCELLED"})
    void theLossOfTheOtherNodeFailsACopyUnderWayAndLeavesNothing(StatusCode code) {
        Device two = cluster.far(2, 1);
        Device three = cluster.far(3, 1);
        Buffer source = filled(two, random(6, 1 << 20));
        Buffer target = filled(three, new byte[1 << 20]);
        cluster.links.getLast().hold(PeerStream.BULK, true); // from 2 to 3: the bytes
        Fence done = copy(null, three, source, 0, target, 0, 1 << 20);
        RemoteSession receiving = cluster.nodes.get(2).session(2);
        await(() -> receiving.transfers().count() > 0); // the bytes are held
        receiving.fail(IreeException.of(code, "by the test"));
        IreeException failure = catchThrowableOfType(IreeException.class, () -> done.await(LIMIT));
        assertThat(failure).hasMessageContaining("by the test");
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(bytes(target)).hasSize(1 << 20);
    }

    private static @Nullable IreeException fetch(RemoteSession asking, FetchedRange range, long from, byte[] target)
            throws Exception {
        CompletableFuture<@Nullable IreeException> end = new CompletableFuture<>();
        asking.fetches().ask(range, from, MemorySegment.ofArray(target), () -> null, end::complete);
        return end.get(60, TimeUnit.SECONDS);
    }

    /** There is no order between the sessions of three nodes. Programs bind memory never written before. */
    @Test
    void aCopyMayArriveBeforeTheAllocationOfItsSource() {
        Device two = cluster.far(2, 1);
        Device three = cluster.far(3, 1);
        Buffer target = filled(three, random(9, 64));
        cluster.links.getFirst().hold(PeerStream.QUEUE, true); // from 1 to 2
        Buffer source = opened(two.allocator().allocate(FAR, 64));
        Fence done = copy(null, three, source, 0, target, 0, 64);
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        await(() -> serving.inProgress() > 0);
        assertThat(done.isReached()).isFalse();
        cluster.links.getFirst().hold(PeerStream.QUEUE, false);
        done.await(LIMIT);
        await(() -> serving.inProgress() == 0);
    }

    @Test
    void aCopyOfMissingMemoryEndsWithTheSessionOfItsOwner() throws Exception {
        RemoteSession asking = cluster.nodes.get(2).session(2);
        CompletableFuture<@Nullable IreeException> end = new CompletableFuture<>();
        FetchedRange range = new FetchedRange(1, 2, 77, 0, 8, GrantKey.create().grant(77, 0, 8, 3));
        asking.fetches().ask(range, 0, MemorySegment.ofArray(new byte[8]), () -> null, end::complete);
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        await(() -> serving.inProgress() > 0);
        assertThat(end).isNotDone();
        cluster.loopback.cut(cluster.links.getFirst()); // 1 to 2
        assertThat(end.get(60, TimeUnit.SECONDS)).isNotNull();
        await(() -> serving.inProgress() == 0);
        assertThat(asking.isOpen()).isTrue();
    }

    @Test
    void aCopyOfMissingMemoryEndsWithTheSessionOfTheCopyingNode() {
        RemoteSession asking = cluster.nodes.get(2).session(2);
        FetchedRange range = new FetchedRange(1, 2, 77, 0, 8, GrantKey.create().grant(77, 0, 8, 3));
        asking.fetches().ask(range, 0, MemorySegment.ofArray(new byte[8]), () -> null, _ -> {});
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        ServerObjects owned = cluster.nodes.get(1).session(1).server().objects();
        await(() -> owned.awaited() == 1);
        cluster.loopback.cut(cluster.links.getLast()); // 2 to 3
        await(() -> serving.inProgress() == 0 && owned.awaited() == 0);
    }

    @Test
    void aCopyOfMissingMemoryEndsWithTheSessionOfItsClient() {
        Device two = cluster.far(2, 1);
        Device three = cluster.far(3, 1);
        Buffer target = filled(three, new byte[64]);
        cluster.links.getFirst().hold(PeerStream.QUEUE, true); // from 1 to 2
        Fence done = copy(null, three, opened(two.allocator().allocate(FAR, 64)), 0, target, 0, 64);
        RemoteNode copying = cluster.nodes.get(2);
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        ServerObjects owned = cluster.nodes.get(1).session(1).server().objects();
        await(() -> owned.awaited() == 1);
        cluster.loopback.cut(cluster.links.get(1)); // 1 to 3
        assertThat(catchThrowableOfType(IreeException.class, () -> done.await(LIMIT)))
                .isNotNull();
        await(() -> copying.sessions().size() == 1 && copying.leftBehind().get() == 0);
        await(() -> serving.inProgress() == 0 && owned.awaited() == 0);
        assertThat(copying.session(2).transfers().count()).isZero();
        cluster.links.getFirst().hold(PeerStream.QUEUE, false);
    }

    /** A command whose client is lost may ask late, and the client gives the memory back. */
    @Test
    void aCopyOfReleasedMemoryFails() throws Exception {
        Device two = cluster.far(2, 1);
        FetchedRange range;
        try (Buffer source = two.allocator().allocate(FAR, 64)) {
            source.write(0, MemorySegment.ofArray(random(15, 64)));
            range = granted(64);
        }
        two.allocator().trim();
        RemoteSession owner = cluster.nodes.get(1).session(1);
        RemoteSession asking = cluster.nodes.get(2).session(2);
        await(() -> isReleased(owner.server().objects(), range.handle()));
        IreeException refused = fetch(asking, range, 0, new byte[64]);
        assertThat(refused).isNotNull();
        assertThat(refused.code()).isEqualTo(StatusCode.NOT_FOUND);
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        await(() -> serving.inProgress() == 0);
    }

    private static boolean isReleased(ServerObjects objects, long handle) {
        try {
            objects.find(handle).release();
            return false;
        } catch (IreeException e) {
            return true;
        }
    }

    @Test
    void aRangeWithoutAGrantIsNotCopied() throws Exception {
        filled(cluster.far(2, 1), random(7, 64));
        RemoteSession asking = cluster.nodes.get(2).session(2);
        for (long owner : new long[] {0, 1, 2, 4}) { // of which a single point has memory there
            byte[] invented = GrantKey.create().grant(1, 0, 64, 3);
            byte[] stolen = new byte[64];
            IreeException refused = fetch(asking, new FetchedRange(owner, 2, 1, 0, 64, invented), 0, stolen);
            assertThat(refused).isNotNull();
            assertThat(refused.code()).isEqualTo(owner == 1 ? StatusCode.PERMISSION_DENIED : StatusCode.NOT_FOUND);
            assertThat(stolen).containsOnly(0);
        }
        assertThat(asking.isOpen()).isTrue();
    }

    /** A client may grant nonsense, and a node may ask for another part, or for a range granted to another node. */
    @Test
    void noRangeOutsideOfTheGrantOrOfTheMemoryIsCopiedAndTheNodesGoOn() throws Exception {
        byte[] given = random(8, 512);
        Buffer source = filled(cluster.far(2, 1), given);
        RemoteSession asking = cluster.nodes.get(2).session(2);
        RemoteServer holder = cluster.nodes.get(1).session(1).server();
        long handle = 1;
        ServerObject memory = holder.objects().find(handle);
        GrantKey key = Objects.requireNonNull(memory.key());
        long size = memory.buffer().length();
        memory.release();
        Random random = new Random(9);
        long[] numbers = {0, 1, 63, 64, 512, size - 1, size, size + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE};
        int copied = 0;
        for (int i = 0; i < 3000; i++) {
            long offset = numbers[random.nextInt(numbers.length)];
            long length = numbers[random.nextInt(numbers.length)];
            long from = numbers[random.nextInt(numbers.length)];
            byte[] part = new byte[1 + random.nextInt(600)];
            int receiver = 1 + random.nextInt(4);
            byte[] grant = key.grant(handle, offset, length, receiver);
            if (random.nextInt(4) == 0) {
                grant[random.nextInt(grant.length)] ^= 1;
            }
            FetchedRange range = new FetchedRange(1, 2, handle, offset, length, grant);
            boolean isRight = key.allows(range, 3)
                    && length <= size
                    && offset <= size - length
                    && from <= length
                    && part.length <= length - from;
            IreeException refused = fetch(asking, range, from, part);
            assertThat(refused == null)
                    .as("%d+%d of %d at %d", from, part.length, length, offset)
                    .isEqualTo(isRight);
            copied += isRight ? 1 : 0;
        }
        assertThat(copied).isPositive();
        assertThat(asking.isOpen()).isTrue();
        RemoteServer serving = cluster.nodes.get(1).session(3).server();
        await(() -> serving.inProgress() == 0);
        assertThat(bytes(source)).isEqualTo(given);
    }
}
