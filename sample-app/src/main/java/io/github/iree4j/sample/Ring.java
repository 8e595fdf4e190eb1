package io.github.iree4j.sample;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/**
 * A pipeline through all nodes of the cluster in turn. Each stage takes the token of the stage before, writes the
 * machine index of the stage's node into the token, and passes the token on. All stages are submitted at once; none
 * waits on the host.
 */
@Component
final class Ring implements DisposableBean {
    private static final int OPERATIONS = 3; // of a stage
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final IreeRuntime runtime;
    private final SchedulingDomain domain;
    private final Nodes nodes;
    private final Map<RemoteSession, Device> remote = new ConcurrentHashMap<>();

    Ring(IreeRuntime runtime, SchedulingDomain domain, Nodes nodes) {
        this.runtime = runtime;
        this.domain = domain;
        this.nodes = nodes;
    }

    /** A device of the ring. */
    private record Place(NodeIdentity node, Device device) {}

    /** Runs a pipeline. */
    Round run(int stages) {
        List<Place> places = places();
        long bytes = (long) stages * Integer.BYTES;
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            // Operations still in progress after a failed wait keep the token.
            MemorySegment token = Arena.ofAuto().allocate(bytes, Integer.BYTES);
            HalFile file = keep(opened, HalFile.ofMemory(token, MemoryAccess.READ | MemoryAccess.WRITE, null));
            List<Buffer> buffers = new ArrayList<>();
            for (Place place : places) {
                BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
                buffers.add(keep(opened, place.device().allocator().allocate(params, bytes)));
            }
            List<TimelineSemaphore> timelines = new ArrayList<>();
            long began = System.nanoTime();
            for (int stage = 0; stage < stages; stage++) {
                TimelineSemaphore before = stage == 0 ? null : timelines.getLast();
                TimelineSemaphore timeline = keep(opened, TimelineSemaphore.create(0));
                timelines.add(timeline);
                int place = stage % places.size();
                DeviceQueue queue = places.get(place).device().queue(0);
                Buffer buffer = buffers.get(place);
                Fence ready = before == null ? null : keep(opened, Fence.at(before, OPERATIONS));
                Fence taken = keep(opened, Fence.at(timeline, 1));
                Fence written = keep(opened, Fence.at(timeline, 2));
                queue.read(ready, taken, file, 0, buffer, 0, bytes, 0);
                int machine = places.get(place).node().machine() + 1; // an untouched token has 0
                queue.fill(
                        taken, written, buffer, (long) stage * Integer.BYTES, Integer.BYTES, machine, Integer.BYTES, 0);
                queue.write(written, keep(opened, Fence.at(timeline, OPERATIONS)), buffer, 0, file, 0, bytes, 0);
            }
            long submitted = System.nanoTime();
            try (Fence last = Fence.at(timelines.getLast(), OPERATIONS)) {
                last.await(LIMIT);
            }
            long ended = System.nanoTime();
            List<Round.Stage> done = new ArrayList<>();
            for (int stage = 0; stage < stages; stage++) {
                done.add(Round.Stage.of(
                        stage,
                        places.get(stage % places.size()).node(),
                        token.getAtIndex(ValueLayout.JAVA_INT, stage) - 1,
                        timelines.get(stage).frontierAt(OPERATIONS)));
            }
            return Round.of(began, submitted, ended, done);
        } finally {
            close(opened);
        }
    }

    private List<Place> places() {
        List<Place> places = new ArrayList<>();
        for (Nodes.Present node : nodes.present()) {
            RemoteSession session = node.session();
            Device device = session == null ? runtime.device() : remote.computeIfAbsent(session, this::open);
            places.add(new Place(node.identity(), device));
        }
        remote.forEach((session, device) -> {
            if (session.failure() != null && remote.remove(session, device)) {
                device.close();
            }
        });
        return places;
    }

    private Device open(RemoteSession session) {
        DeviceOptions options =
                DeviceOptions.builder().schedulingDomain(domain).queueCount(1).build();
        return session.openDevice(session.devices().getFirst().id(), options);
    }

    private static <T extends AutoCloseable> T keep(List<AutoCloseable> opened, T resource) {
        opened.add(resource);
        return resource;
    }

    private static void close(List<AutoCloseable> opened) {
        for (AutoCloseable each : opened.reversed()) {
            try {
                each.close();
            } catch (Exception e) { // as declared; none of them throws
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public void destroy() {
        remote.values().forEach(Device::close);
    }
}
