package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import java.util.List;
import org.springframework.context.ConfigurableApplicationContext;

/** A node with programs, from start to end. */
record ProgramNode(
        ConfigurableApplicationContext context,
        ClusterNode member,
        IreeRuntime runtime,
        InvocationService invocations,
        Programs programs) {
    static ProgramNode of(ConfigurableApplicationContext context) {
        return new ProgramNode(
                context,
                context.getBean(ClusterNode.class),
                context.getBean(IreeRuntime.class),
                context.getBean(InvocationService.class),
                context.getBean(Programs.class));
    }

    /** Returns the other nodes missing here, and programs not ready; empty if none are. */
    String missing(int others) {
        StringBuilder missing = new StringBuilder();
        member.fenced().ifPresent(cause -> missing.append("fenced: %s; ".formatted(cause)));
        List<ClusterPeer> peers = member.peers();
        for (ClusterPeer each : peers) {
            if (each.session() == null) {
                missing.append(each).append("; ");
            }
        }
        if (peers.size() != others) {
            missing.append("%s sees %s; ".formatted(member.identity(), member.view()));
        }
        for (ProgramStatus each : programs.statuses()) {
            if (each.state() != ProgramState.READY) {
                missing.append("%s at %s; ".formatted(each, member.identity()));
            }
        }
        for (LoadedProgram each : programs.all()) {
            for (Program instance : each.instances()) {
                for (Device device : instance.devices()) {
                    if (device.failure().isPresent() || device.draining().isPresent()) {
                        missing.append(
                                "'%s' of %s at %s; ".formatted(each.source().name(), device, member.identity()));
                    }
                }
            }
        }
        return missing.toString();
    }

    /** Returns the number of open tensors. */
    long openTensors() {
        return runtime.monitor().leaks().openTensors();
    }
}
