package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.storage.StorageGrant;
import io.github.iree4j.hal.storage.StorageRelease;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Memory in queue order. Host-side only, except for the hardware's overwriting of freed memory. */
final class Allocations {
    private static final int POISON_PATTERN = StreamBuffer.POISON & 0xFF;

    private Allocations() {}

    /** Gives a buffer its storage, reserved when the operation is issued, or earlier while the operation waits in line. */
    static final class Alloca extends StreamOperation implements StorageRequest {
        private final StreamBuffer buffer;
        private final StorageGrant<StreamStorage> grant;

        Alloca(StreamBuffer buffer, StreamMemory memory, ReservationRequest request) {
            super(ALLOCA);
            this.buffer = buffer;
            this.grant = new StorageGrant<>(buffer, memory.pools(), request, StreamStorage::of);
        }

        @Override
        public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
            return grant.tryReservePresent(after, timepoints);
        }

        @Override
        public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
            return grant.tryReserve(after, timepoints);
        }

        @Override
        public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
            grant.reserve(after, timepoints, done);
        }

        @Override
        public List<NativeTimepoint> marks() {
            return grant.marks();
        }

        @Override
        public Frontier premise() {
            return grant.premise();
        }

        @Override
        public long bytes() {
            return grant.bytes();
        }

        @Override
        public String pool() {
            return grant.pool();
        }

        @Override
        public @Nullable Reservation memory() {
            return grant.memory();
        }

        @Override
        public void issued(Frontier frontier) {
            grant.issued(frontier);
        }

        @Override
        protected void failed(IreeException cause) {
            grant.failed(cause, frontier());
        }

        @Override
        protected void retain() {
            buffer.retain();
        }

        @Override
        protected void release() {
            buffer.release();
        }
    }

    /** Takes a buffer's storage away in queue order. */
    static final class Dealloca extends TransferOperation implements StorageRelease {
        private final StreamBuffer buffer;

        Dealloca(StreamQueue queue, StreamBuffer buffer) {
            super(DEALLOCA, queue, buffer);
            this.buffer = buffer;
            buffer.announceRelease();
        }

        @Override
        boolean runsInAnyCase() {
            return true; // memory waiters depend on the deallocation
        }

        @Override
        boolean isEmpty() {
            return !device.memory().poisons() || buffer.length() == 0;
        }

        @Override
        void encode(TransferCommands commands) {
            StreamStorage storage = storage(0);
            commands.fill(storage, 0, storage.length(), POISON_PATTERN, 1);
        }

        @Override
        public @Nullable Reservation memory() {
            return buffer.reservation();
        }

        @Override
        public void issued(Frontier death) {
            buffer.deallocated(death);
        }
    }
}
