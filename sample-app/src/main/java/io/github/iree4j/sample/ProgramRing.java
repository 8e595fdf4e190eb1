package io.github.iree4j.sample;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.spring.DeviceLostEvent;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * A pipeline of calls of a program that counts, on a device of each node in turn. Each call takes the result of the call
 * before. All calls are submitted before the first call runs; fences order the calls.
 *
 * <p>The program is loaded for the first device of this node, and for each device {@code machineN} that is declared
 * among {@code iree.devices} and belongs to a node with a session.
 */
@Component
final class ProgramRing {
    private static final String PROGRAM = "count";
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final IreeRuntime runtime;
    private final Programs programs;
    private final InvocationService invocations;
    private final Nodes nodes;

    ProgramRing(IreeRuntime runtime, Programs programs, InvocationService invocations, Nodes nodes) {
        this.runtime = runtime;
        this.programs = programs;
        this.invocations = invocations;
        this.nodes = nodes;
    }

    /**
     * A node of the ring.
     *
     * @param devices the names of the program's devices; empty for the devices of this node
     */
    private record Place(NodeIdentity node, List<String> devices) {
        String program() {
            return devices.isEmpty() ? PROGRAM : nameOn(devices.getFirst());
        }
    }

    private static String nameOn(String device) {
        return PROGRAM + "-" + device;
    }

    /** The nodes of the ring. */
    List<String> nodes() {
        return places().stream().map(place -> place.node().toString()).toList();
    }

    /** Runs a pipeline. */
    Round run(int stages) {
        List<Place> places = places();
        places.forEach(this::load);
        List<Submission<Results>> calls = new ArrayList<>();
        List<Results> results = new ArrayList<>();
        try (Tensor zero = Tensor.of(new int[] {0});
                Fence start = runtime.createFence("start of a ring")) {
            Tensor last = zero;
            Fence after = start;
            long began = System.nanoTime();
            for (int stage = 0; stage < stages; stage++) {
                Submission<Results> call = invocations
                        .request(places.get(stage % places.size()).program() + ".next")
                        .inputs(last)
                        .after(after)
                        .timeout(LIMIT)
                        .submit();
                calls.add(call);
                results.add(call.results().await()); // without contents yet
                last = results.getLast().tensor(0);
                after = call.fence();
            }
            long submitted = System.nanoTime();
            start.signal();
            after.await(LIMIT);
            long ended = System.nanoTime();
            List<Round.Stage> done = new ArrayList<>();
            for (int stage = 0; stage < stages; stage++) {
                int result = results.get(stage).tensor(0).toIntArray()[0];
                if (result != stage + 1) {
                    throw new IllegalStateException(
                            "stage %d counted to %d instead of %d".formatted(stage, result, stage + 1));
                }
                done.add(Round.Stage.of(
                        stage,
                        places.get(stage % places.size()).node(),
                        result,
                        calls.get(stage).fence().semaphore(0).frontierAt(1)));
            }
            return Round.of(began, submitted, ended, done);
        } finally {
            results.forEach(Results::close);
        }
    }

    private List<Place> places() {
        List<String> declared = runtime.monitor().devices().names();
        List<Place> places = new ArrayList<>();
        for (Nodes.Present node : nodes.present()) {
            String device = "machine" + node.identity().machine();
            if (node.session() == null) {
                places.add(new Place(node.identity(), List.of()));
            } else if (declared.contains(device)) {
                places.add(new Place(node.identity(), List.of(device)));
            }
        }
        return places;
    }

    private synchronized void load(Place place) {
        boolean works = programs.find(place.program())
                .filter(loaded -> loaded.program().devices().stream()
                        .allMatch(device -> device.failure().isEmpty()))
                .isPresent();
        if (!works) {
            programs.load(ProgramSource.builder(place.program(), "classpath:models/count.vmfb")
                    .devices(place.devices())
                    .build());
        }
    }

    /** Unloads the program of a lost device, since the program would be down until the node is back. */
    @EventListener
    void lost(DeviceLostEvent event) {
        programs.unload(nameOn(event.device()));
    }
}
