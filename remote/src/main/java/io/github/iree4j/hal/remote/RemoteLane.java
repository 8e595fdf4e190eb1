package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.RunRequests;
import io.github.iree4j.hal.stream.Submission;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of a remote device, for its client: sends submissions in order, each as a COMMAND, and counts the commands
 * completed by the peer.
 *
 * <p>A submission waiting for a point of a lane, here or at another node, is sent before the point is reached: the peer
 * waits for the point. Only signals of the host are waited for here.
 */
final class RemoteLane implements Lane {
    /*
     * REMOTE-4: commands of a lane are sent, and complete, in the order of submission, each once: `pending` and `sent`
     * change under the lock, and only the heads leave. Timelines are raised without the lock.
     *
     * REMOTE-6: a command is complete here only after all of its waits: the peer may be ahead of the bytes of another
     * lane's download. For the same reason, bytes of this process are sent to a peer after points of other peers only
     * once the points are reached here; for points of the same peer, the order of BULK suffices.
     *
     * REMOTE-7: a point of a lost lane has ended only after all waits of the commands up to the point: others rely on
     * the order, and the loss does not show the work still running at other nodes. So the submissions of a lost lane,
     * present or promised, end in order, each once its waits have ended; nothing of them is sent.
     *
     * REMOTE-8: the peer learns of each value raised by the host, since others may wait for the value at the peer. Here
     * the value is reached before the peer has room for the command with the value, and the device may be closed in
     * between: the lane sends the remaining commands, and then its own end.
     */

    /** Limit on submissions waiting here to be sent; submissions without commands are accepted beyond the limit. */
    private static final int PENDING_LIMIT = 1 << 14;

    /** Limit on the points awaited by the peer in a command; the count is a byte. */
    private static final int WAITS_LIMIT = 255;

    /** Bytes of commands in progress above which no further command is sent. */
    private static final long SENT_BYTES_LIMIT = 2 << 20;

    /** Limit on the bytes of an upload sent with the command, for content known to be final. */
    private static final int INLINE = 32 << 10;

    private final RemoteDriver driver;
    private final long axis;
    private final RemoteTimeline timeline;
    private final RunRequests advances = new RunRequests();
    private final RunRequests retirements = new RunRequests();
    private final ArrayDeque<Entry> pending = new ArrayDeque<>(); // guarded by this, like the rest
    private final ArrayDeque<Entry> sent = new ArrayDeque<>();
    private final Runnable advance = this::advance; // a single object: registered at most once per point
    private final Runnable retire = this::retire;
    private long sequence;
    private long last; // ticket of the last entry
    private long sentBytes;
    private boolean closed; // no submission is added any more
    private boolean ended; // the peer was notified of the end of commands

    /** A submission, or a signal of the host. */
    private static final class Entry {
        final @Nullable Submission submission;
        long ticket;
        long sequence;
        int downloads; // downloads not yet arrived
        long bytes; // bytes of the frame
        boolean completed;

        @Nullable
        IreeException failure;

        final List<Long> uploads = new ArrayList<>(0); // complete before the frame is sent, like `incoming`
        final List<Long> incoming = new ArrayList<>(0);
        List<Point> waits = List.of();

        Entry(@Nullable Submission submission, long ticket) {
            this.submission = submission;
            this.ticket = ticket;
        }
    }

    /** A point of another lane awaited by the peer. */
    private record Point(RemoteTimeline timeline, long value) {}

    RemoteLane(RemoteDriver driver, long axis) {
        this.driver = driver;
        this.axis = axis;
        this.timeline = new RemoteTimeline(driver, this, 0);
    }

    long axis() {
        return axis;
    }

    @Override
    public int family() {
        return 0;
    }

    @Override
    public boolean computes() {
        return true;
    }

    @Override
    public DriverTimeline timeline() {
        return timeline;
    }

    @Override
    public @Nullable Object context() {
        return driver.session().node().domain().context();
    }

    @Override
    public void submit(List<Submission> submissions) {
        long reached = 0;
        synchronized (this) {
            boolean isLost = driver.isLost(); // others may wait for the tickets anyway: REMOTE-7
            // A refused submission comes again without the commands: the place of the submission must be taken, or the
            // queue is broken.
            if (!isLost
                    && pending.size() + submissions.size() > PENDING_LIMIT
                    && submissions.stream().anyMatch(each -> each.commands() != null)) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%d operations wait to be sent to %s, the limit is %d; wait for some of them"
                                .formatted(pending.size(), driver.session(), PENDING_LIMIT));
            }
            for (Submission each : submissions) {
                if (!isLost && pending.isEmpty() && sent.isEmpty() && doesNothing(each)) {
                    reached = each.ticket(); // nothing before is left, and the submission is empty
                }
                add(each);
            }
            last = submissions.getLast().ticket();
        }
        timeline.raise(reached);
        advance();
    }

    @Override
    public void lost(List<Submission> never) {
        submit(never);
    }

    /** Enqueues a submission, under the lock. Consecutive empty submissions are merged unless the earlier submission is already being sent. */
    private void add(Submission submission) {
        Entry last = pending.peekLast();
        if (last != null && last != pending.peek() && doesNothing(last.submission) && doesNothing(submission)) {
            last.ticket = submission.ticket();
        } else {
            pending.add(new Entry(submission, submission.ticket()));
        }
    }

    private static boolean doesNothing(@Nullable Submission submission) {
        return submission != null && submission.commands() == null && submission.waitCount() == 0;
    }

    /** Sends a value raised by the host, so that the peer notifies waiters at the peer. */
    void signalled(long ticket) {
        synchronized (this) {
            pending.add(new Entry(null, ticket));
        }
        advance();
    }

    /** Sends all sendable submissions. One thread at a time. */
    void advance() {
        if (!advances.ask()) {
            return;
        }
        do {
            boolean more = true;
            while (more) {
                more = sendNext();
            }
            sendEnd();
        } while (advances.again());
        if (driver.isLost()) {
            retire();
        }
    }

    private boolean sendNext() {
        Entry entry;
        List<Point> waits = new ArrayList<>(0);
        boolean first;
        synchronized (this) {
            entry = pending.peek();
            if (entry == null) {
                return false;
            }
            if (driver.isLost()) {
                leaveOut(entry);
                return true;
            }
            if (ended
                    || sentBytes > SENT_BYTES_LIMIT
                    || sent.size() >= driver.session().peerLimits().commandWindow()
                    || !driver.session().outbox(PeerStream.QUEUE).hasRoom()) {
                return false;
            }
            first = onlySignals(sent);
        }
        if (entry.submission != null && !isReady(entry.submission, waits)) {
            return false;
        }
        send(entry, waits, first && waits.isEmpty());
        return true;
    }

    /** Returns whether nothing sent changes memory: values raised by the host have neither steps nor waits. */
    private static boolean onlySignals(Iterable<Entry> sent) {
        for (Entry each : sent) {
            if (each.submission != null) {
                return false;
            }
        }
        return true;
    }

    /** Notifies the peer after the last command of a closed lane. */
    private void sendEnd() {
        synchronized (this) {
            if (!closed || ended || !pending.isEmpty()) {
                return;
            }
            ended = true;
        }
        driver.client().close(this);
    }

    /** Moves the head, to be left unsent, to the entries ending in order. Under the lock. */
    private void leaveOut(Entry head) {
        pending.remove();
        Submission submission = head.submission;
        if (submission != null && submission.waitCount() > 0) {
            head.waits = new ArrayList<>(submission.waitCount());
            for (int i = 0; i < submission.waitCount(); i++) {
                RemoteTimeline other = (RemoteTimeline) submission.waitTimeline(i);
                if (other.lane() != this) {
                    head.waits.add(new Point(other, submission.waitValue(i)));
                }
            }
        }
        sent.add(head);
    }

    /** Collects the points awaited by the peer; false when the host has to signal a point first, and then continues. */
    private boolean isReady(Submission submission, List<Point> waits) {
        boolean moves = hasUploads(submission);
        for (int i = 0; i < submission.waitCount(); i++) {
            RemoteTimeline other = (RemoteTimeline) submission.waitTimeline(i);
            long value = submission.waitValue(i);
            RemoteLane producer = other.lane();
            if (other.hasReached(value) || producer == this) {
                continue;
            }
            if (producer == null
                    || waits.size() == WAITS_LIMIT
                    || moves && producer.driver.session() != driver.session()
                    || producer.driver.isLost()) {
                if (!other.isOverOrThen(value, advance)) {
                    return false;
                }
            } else {
                waits.add(new Point(other, value));
            }
        }
        return true;
    }

    private static boolean hasUploads(Submission submission) {
        return submission.commands() instanceof RemoteCommands commands
                && commands.steps().stream().anyMatch(Step.Upload.class::isInstance);
    }

    private void send(Entry entry, List<Point> waits, boolean isFinal) {
        RemoteCommands commands =
                entry.submission != null && entry.submission.commands() instanceof RemoteCommands some ? some : null;
        List<Step> steps = commands == null ? List.of() : commands.steps();
        long described = commands == null ? 0 : commands.bytes();
        synchronized (this) {
            pending.remove();
            entry.sequence = ++sequence;
            entry.downloads = 1; // until the frame is complete
            entry.waits = waits;
            sent.add(entry);
        }
        FrameWriter frame =
                new FrameWriter(FrameType.COMMAND).u64(axis).u64(entry.sequence).u64(entry.ticket);
        TraceParent.write(entry.submission == null ? null : (TraceParent) entry.submission.context(), frame);
        frame.u8(waits.size());
        for (Point each : waits) {
            RemoteLane producer = Objects.requireNonNull(each.timeline.lane());
            frame.u64(producer.driver.incarnation()).u64(producer.axis).u64(each.value);
        }
        frame.u16(steps.size());
        boolean moves = false;
        for (Step step : steps) {
            boolean small = frame.size() + described < SessionWire.FRAME_LIMIT / 2; // bytes of uploads may be added
            write(entry, step, frame, isFinal && !moves && small);
            moves |= step instanceof Step.Download;
        }
        synchronized (this) {
            entry.bytes = frame.size();
            sentBytes += entry.bytes;
        }
        driver.client().questions().await(waits.size());
        driver.session().post(frame);
        downloaded(entry, null);
    }

    private void write(Entry entry, Step step, FrameWriter frame, boolean isFinal) {
        Transfers transfers = driver.session().transfers();
        switch (step) {
            case Step.Fill fill ->
                frame.u8(Step.FILL)
                        .u64(fill.handle())
                        .u64(fill.offset())
                        .u64(fill.length())
                        .u64(fill.pattern())
                        .u8(fill.width());
            case Step.Copy copy ->
                frame.u8(Step.COPY)
                        .u64(copy.source())
                        .u64(copy.sourceOffset())
                        .u64(copy.target())
                        .u64(copy.targetOffset())
                        .u64(copy.length());
            case Step.Upload upload -> {
                long size = upload.bytes().byteSize();
                if (isFinal && size <= INLINE && !upload.constant()) {
                    frame.u8(Step.UPDATE)
                            .u64(upload.target())
                            .u64(upload.offset())
                            .u32((int) size);
                    frame.bytes(upload.bytes().toArray(ValueLayout.JAVA_BYTE));
                } else {
                    frame.u8(upload.constant() ? Step.CONTENT : Step.UPLOAD)
                            .u64(offer(entry, upload.bytes()))
                            .u64(upload.target())
                            .u64(upload.offset())
                            .u64(size);
                    if (upload.constant()) {
                        frame.bytes(RemoteClient.digest(upload.bytes()));
                    }
                }
            }
            case Step.Download download -> {
                long number = transfers.next();
                MemorySegment target = download.bytes();
                synchronized (this) {
                    entry.downloads++;
                    entry.incoming.add(number);
                }
                transfers.receive(number, 0, target, false, () -> null, failure -> downloaded(entry, failure));
                frame.u8(Step.DOWNLOAD)
                        .u64(number)
                        .u64(download.source())
                        .u64(download.offset())
                        .u64(target.byteSize());
            }
            case Step.Fetch fetch -> {
                frame.u8(Step.FETCH).u64(fetch.range().holder());
                fetch.range().write(frame);
                frame.u64(fetch.target()).u64(fetch.offset());
            }
            case Step.Execute execute -> {
                frame.u8(Step.EXECUTE).u64(execute.recording());
                if (execute.recording() == 0) {
                    frame.u32(execute.inline().length).bytes(execute.inline());
                }
                long[] bindings = execute.bindings();
                frame.u16(bindings.length / 3);
                for (long word : bindings) {
                    frame.u64(word);
                }
            }
        }
    }

    /** Announces bytes, requested by the peer when the command runs. */
    private long offer(Entry entry, MemorySegment bytes) {
        Transfers transfers = driver.session().transfers();
        long number = transfers.next();
        entry.uploads.add(number);
        transfers.send(number, 0, bytes, 0, () -> null, _ -> {});
        return number;
    }

    /** Records the end of a download of a command, or the completion of the command's frame. */
    private void downloaded(Entry entry, @Nullable IreeException failure) {
        synchronized (this) {
            entry.downloads--;
            if (failure != null && entry.failure == null) {
                entry.failure = failure;
            }
        }
        retire();
    }

    synchronized void accepted(FrameReader in, long upTo) {
        if (upTo > sequence) {
            throw in.corrupt("command %d of lane %d, which has sent %d".formatted(upTo, axis, sequence));
        }
    }

    void completed(FrameReader in, long number, long epoch, @Nullable IreeException failure) {
        Entry entry;
        synchronized (this) {
            if (number > sequence) {
                throw in.corrupt("command %d of lane %d, which has sent %d".formatted(number, axis, sequence));
            }
            entry = null;
            for (Entry each : sent) {
                if (!each.completed) {
                    entry = each;
                    break;
                }
            }
            if (entry == null || number < entry.sequence) {
                return; // repeated
            }
            if (number > entry.sequence || epoch != entry.ticket) {
                throw in.corrupt("command %d with epoch %d of lane %d is out of order; the next is %d with epoch %d"
                        .formatted(number, epoch, axis, entry.sequence, entry.ticket));
            }
            if (failure != null) {
                entry.failure = failure;
                if (entry.submission != null && entry.submission.commands() instanceof RemoteCommands failed) {
                    failed.failed(failure);
                }
            }
            // Last: from here on any thread may retire the entry, and a retired submission has no commands.
            entry.completed = true;
        }
        Transfers transfers = driver.session().transfers();
        entry.uploads.forEach(transfers::withdraw);
        if (failure != null) {
            entry.incoming.forEach(transfers::cancel);
        }
        retire();
    }

    /**
     * Ends the complete commands at the head, in order. A single thread at a time, so lanes waiting for each other do
     * not nest.
     */
    private void retire() {
        if (!retirements.ask()) {
            return;
        }
        do {
            retireHeads();
        } while (retirements.again());
    }

    private void retireHeads() {
        long reached = 0;
        long over = 0;
        synchronized (this) {
            for (Entry head; (head = sent.peek()) != null; ) {
                boolean complete = head.completed && head.downloads == 0;
                if (!complete && !driver.isLost() || !allOver(head)) {
                    break; // REMOTE-6: continues when the last point has ended
                }
                sent.remove();
                sentBytes -= head.bytes;
                if (head.sequence != 0) { // sent to the peer
                    driver.client().questions().await(-head.waits.size());
                }
                if (head.failure != null && head.submission != null) {
                    head.submission.fail(head.failure);
                }
                over = head.ticket;
                reached = complete ? over : reached;
            }
        }
        timeline.raise(reached);
        timeline.end(over);
        if (reached > 0) {
            advance(); // the window has room
        }
    }

    /**
     * Calls back once the lane has reached a value, with null, or once the value has ended, with the loss of the device.
     *
     * @return forgets the callback
     */
    Runnable whenReached(long value, Consumer<@Nullable IreeException> action) {
        Runnable look = () -> action.accept(timeline.hasReached(value) ? null : absence());
        if (timeline.isOverOrThen(value, look)) {
            look.run();
        }
        return () -> timeline.forget(value, look);
    }

    /** Calls back once all submissions given or promised to the lane are reached or ended. For a lane without further submissions. */
    void whenOver(Runnable action) {
        long all;
        synchronized (this) {
            all = last;
        }
        if (timeline.isOverOrThen(all, action)) {
            action.run();
        }
    }

    private @Nullable IreeException absence() {
        IreeException cause = driver.failure();
        return cause == null ? null : driver.session().absence(cause);
    }

    /** Returns the value reached by the lane. */
    long reached() {
        return timeline.reached();
    }

    /** The cause of the loss of the device; null when the device is not lost. */
    @Nullable
    IreeException failure() {
        return driver.failure();
    }

    private boolean allOver(Entry head) {
        for (Point each : head.waits) {
            if (!each.timeline.isOverOrThen(each.value, retire)) {
                return false;
            }
        }
        return true;
    }

    synchronized RemoteLaneStatistics statistics(long queue) {
        return new RemoteLaneStatistics(
                axis, queue, driver.info().id(), timeline.reached(), sent.size(), pending.size());
    }

    /** Handles the loss of the device: nothing is sent any more, and submissions waiting here end in order. */
    void abandon() {
        advance();
    }

    /** Closes the lane with its device: all submissions have ended here, and the peer may still have to learn of the end. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        timeline.close();
        advance();
    }
}
