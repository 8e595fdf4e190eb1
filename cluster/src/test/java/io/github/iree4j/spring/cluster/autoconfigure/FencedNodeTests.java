package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.identity.IdentityStore;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.identity.MemoryIdentityStore;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.membership.MemoryMembership;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.AvailabilityState;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** Fenced nodes in this process, with real connections and sessions counted in files. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(180)
class FencedNodeTests {

    private static final String ADD = "3.13.0/vmvx/add.vmfb";
    private static final IreeException CAUSE = IreeException.of(StatusCode.ABORTED, "by the test");

    @TempDir
    private Path directory;

    private final MemoryMembership.Network network = new MemoryMembership.Network();
    private final int port =
            FreePorts.from(29_000 + (int) (ProcessHandle.current().pid() % 2_000)); // of the first node
    private final Map<Integer, ConfigurableApplicationContext> applications = new ConcurrentHashMap<>(); // by machine
    private final Map<Integer, Integer> sessions = new ConcurrentHashMap<>(); // by machine
    private final List<AvailabilityState> states = new CopyOnWriteArrayList<>();

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        ApplicationAvailabilityAutoConfiguration.class,
        IreeAutoConfiguration.class,
        IreeClusterAutoConfiguration.class
    })
    static class Application {}

    @AfterEach
    void closeAll() {
        applications.values().forEach(ConfigurableApplicationContext::close);
    }

    private SpringApplicationBuilder application(int machine, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "iree.cluster.enabled=true",
                "iree.cluster.identity.machine=" + machine,
                "iree.cluster.identity.file=" + directory.resolve("machine" + machine),
                "iree.cluster.bind.port=" + (port + 3 * machine)));
        all.addAll(List.of(properties));
        ApplicationListener<ApplicationReadyEvent> ready = event -> {
            ConfigurableApplicationContext context = event.getApplicationContext();
            applications.put(machine, context);
            sessions.put(machine, context.getBean(LeaseKeeper.class).identity().session());
        };
        ApplicationListener<AvailabilityChangeEvent<?>> change = event -> states.add(event.getState());
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties(all.toArray(String[]::new))
                .registerShutdownHook(false)
                .listeners(ready, change)
                .initializers(context -> ((GenericApplicationContext) context)
                        .registerBean(ClusterMembership.class, () -> new MemoryMembership(network)));
    }

    private static void await(BooleanSupplier condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .until(condition::getAsBoolean);
    }

    /** Fences a node, and waits for the next incarnation. */
    private void fence(int machine) {
        int session = sessions.get(machine);
        applications.get(machine).getBean(ClusterNode.class).fence(CAUSE);
        awaitSession(machine, session + 1);
    }

    private void awaitSession(int machine, int session) {
        await(() -> Objects.equals(sessions.get(machine), session));
    }

    private static Path fixture() {
        return Path.of("..", "fixtures", "modules").resolve(ADD);
    }

    private boolean adds(int machine) {
        try (Results results = applications
                .get(machine)
                .getBean(InvocationService.class)
                .invoke("adder.add", new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40})) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(11, 22, 33, 44);
            return true;
        } catch (IreeException e) {
            return false; // the device is lost, until the other node is back
        }
    }

    @Test
    void aFencedNodeTakesANewSessionInTheSameProcessAndServesItsPeersAgain() {
        application(1).run();
        application(
                        0,
                        "iree.devices.far.uri=cluster://1/local",
                        "iree.modules.adder.location=" + fixture(),
                        "iree.modules.adder.devices=far")
                .run();
        assertThat(adds(0)).isTrue();
        ConfigurableApplicationContext old = applications.get(1);
        Device device = old.getBean(IreeRuntime.class).device();
        fence(1);
        assertThat(old.isActive()).isFalse();
        assertThat(applications.get(1).getBean(IreeRuntime.class).device()).isNotSameAs(device);
        assertThat(Axis.session(applications
                        .get(1)
                        .getBean(IreeRuntime.class)
                        .device()
                        .queue(0)
                        .axis()))
                .isEqualTo(2);
        assertThat(states).contains(ReadinessState.REFUSING_TRAFFIC).doesNotContain(LivenessState.BROKEN);
        await(() -> applications.get(1).getBean(ApplicationAvailability.class).getReadinessState()
                == ReadinessState.ACCEPTING_TRAFFIC);
        await(() -> adds(0));
        assertThat(applications.get(0).getBean(ClusterNode.class).peers())
                .singleElement()
                .satisfies(
                        peer -> assertThat(peer.member().identity().session()).isEqualTo(2));

        fence(0);
        await(() -> adds(0));
        fence(1);
        await(() -> adds(0));
        assertThat(sessions).isEqualTo(Map.of(0, 2, 1, 3));
    }

    @Test
    void aStoreAwayAtTheRestartIsAskedUntilBack(CapturedOutput output) {
        MemoryIdentityStore store = new MemoryIdentityStore(1, 1, System::nanoTime);
        AtomicInteger refused = new AtomicInteger();
        IdentityStore counted = duration -> {
            try {
                return store.acquire(duration);
            } catch (IreeException e) {
                refused.incrementAndGet();
                throw e;
            }
        };
        application(0)
                .initializers(context ->
                        ((GenericApplicationContext) context).registerBean(IdentityStore.class, () -> counted))
                .run();
        store.fail(IreeException.of(StatusCode.UNAVAILABLE, "the database does not answer"));
        applications.get(0).getBean(ClusterNode.class).fence(CAUSE);
        await(() -> refused.get() == 2);
        store.fail(null);
        awaitSession(0, 2);
        assertThat(output.getAll().lines().filter(line -> line.contains("next attempt in")))
                .hasSizeGreaterThanOrEqualTo(2)
                .allSatisfy(line -> assertThat(line).contains("WARN").contains("the database does not answer"));
        assertThat(output).doesNotContain("\tat ").doesNotContain("APPLICATION FAILED TO START");
    }

    @Test
    void aNodeFencedDuringTheStartStartsAgainWhetherTheStartEndsOrFails() {
        for (boolean fails : List.of(false, true)) {
            AtomicBoolean first = new AtomicBoolean(true);
            int machine = fails ? 1 : 0;
            SpringApplicationBuilder application = application(machine)
                    .initializers(context -> ((GenericApplicationContext) context)
                            .registerBean("fencing", SmartInitializingSingleton.class, () -> () -> {
                                if (first.compareAndSet(true, false)) {
                                    context.getBean(ClusterNode.class).fence(CAUSE);
                                    if (fails) {
                                        throw CAUSE; // as the loading of a program does
                                    }
                                }
                            }));
            Throwable failure = catchThrowable(application::run);
            assertThat(failure != null).isEqualTo(fails);
            awaitSession(machine, 2);
        }
    }

    @Test
    void nothingOfAnOldIncarnationIsKept() {
        application(0, "iree.modules.adder.location=" + fixture()).run();
        assertThat(adds(0)).isTrue();
        List<WeakReference<?>> old = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            old.add(new WeakReference<>(applications.get(0)));
            old.add(new WeakReference<>(applications.get(0).getBean(IreeRuntime.class)));
            fence(0);
            assertThat(adds(0)).isTrue();
        }
        await(() -> {
            System.gc();
            return old.stream().allMatch(each -> each.refersTo(null));
        });
    }
}
