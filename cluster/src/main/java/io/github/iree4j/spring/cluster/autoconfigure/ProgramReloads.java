package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterDevices;
import io.github.iree4j.cluster.ClusterListener;
import io.github.iree4j.cluster.MissingNode;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.spring.DeviceLostEvent;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.ProgramStatusEvent;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.status.IreeException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;

/**
 * Loads programs again when a node with devices used by the programs appears: programs not loaded for want of the node,
 * and programs with a device lost with the node's session. Reloaded programs have the state of newly loaded programs.
 */
final class ProgramReloads implements SmartInitializingSingleton, ApplicationListener<ApplicationEvent> {

    private static final Logger log = LoggerFactory.getLogger(ProgramReloads.class);

    private final ObjectProvider<Programs> provider;
    private final IreeProperties properties;
    private final IreeEvents events;
    private final Executor executor;
    private final Map<Long, ClusterMember> connected = new ConcurrentHashMap<>(); // by incarnation
    private volatile @Nullable Programs programs; // null before the application's beans exist

    /**
     * Creates the reloads.
     *
     * @param executor runs tasks; tasks may block
     */
    ProgramReloads(ObjectProvider<Programs> provider, IreeProperties properties, IreeEvents events, Executor executor) {
        this.provider = provider;
        this.properties = properties;
        this.events = events;
        this.executor = executor;
    }

    @Override
    public void afterSingletonsInstantiated() {
        programs = provider.getIfAvailable();
    }

    /** Returns the listener for events of the node. Not a bean: the listener bean belongs to the application, or publishes events. */
    ClusterListener listener() {
        return new ClusterListener() {
            @Override
            public void connected(ClusterMember peer) {
                connected.put(peer.identity().incarnation(), peer);
                look(peer);
            }

            @Override
            public void failed(long incarnation, IreeException cause) {
                connected.remove(incarnation);
            }
        };
    }

    /**
     * The node may have come before the end of the node's last session was noticed, or while a program was still
     * waiting for the node and then failed.
     */
    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (event instanceof DeviceLostEvent || event instanceof ProgramStatusEvent now && misses(now.status())) {
            connected.values().forEach(this::look);
        }
    }

    /** Returns whether a program failed for want of a node. A program failed for another reason would fail again. */
    private static boolean misses(ProgramStatus status) {
        return status.state() == ProgramState.FAILED
                && status.failure() instanceof ProgramLoadException failure
                && failure.getCause() instanceof IreeException cause
                && cause.detail(MissingNode.class).isPresent();
    }

    private void look(ClusterMember peer) {
        Programs all = programs;
        if (all != null) {
            executor.execute(() -> reload(all, peer));
        }
    }

    private synchronized void reload(Programs all, ClusterMember peer) {
        for (ProgramStatus each : all.statuses()) {
            ProgramSource source = each.source();
            if (!connected.containsKey(peer.identity().incarnation())) {
                return; // the node has gone again, and loading would wait for the node
            }
            if (source.devices().stream().anyMatch(name -> isAt(name, peer)) && isDown(all, each)) {
                log.info("loading program '{}' again, since {} is there", source.name(), peer);
                try {
                    all.load(source.name(), source.version());
                    events.add("cluster.reloaded", source.name(), "loaded again, since %s is there".formatted(peer));
                } catch (IreeException | ProgramLoadException e) {
                    log.error("program '{}' cannot be loaded with {}", source.name(), peer, e);
                }
            }
        }
    }

    private boolean isAt(String device, ClusterMember peer) {
        IreeProperties.Device configured = properties.devices().get(device);
        String uri = configured == null ? null : configured.uri();
        return ClusterDevices.isAt(uri == null ? device : uri, peer);
    }

    private static boolean isDown(Programs all, ProgramStatus status) {
        Optional<LoadedProgram> loaded =
                all.find(status.source().name(), status.source().version());
        return loaded.isPresent()
                ? loaded.get().instances().stream()
                        .flatMap(each -> each.devices().stream())
                        .anyMatch(device -> device.failure().isPresent())
                : status.failure() != null;
    }
}
