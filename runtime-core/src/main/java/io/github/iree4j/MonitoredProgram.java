package io.github.iree4j;

import io.github.iree4j.call.ProgramCalls;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.monitor.ProgramMonitor;
import io.github.iree4j.monitor.TurnStatistics;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.VmModule;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What operators see of a program, with the further modules of the program. Safe from any thread. */
final class MonitoredProgram implements ProgramMonitor {
    private final ProgramCalls calls;
    private final ProgramLoader.Loaded loaded;
    private final List<MonitoredProgram> parts;

    MonitoredProgram(ProgramCalls calls, ProgramLoader.Loaded loaded, List<MonitoredProgram> parts) {
        this.calls = calls;
        this.loaded = loaded;
        this.parts = parts;
    }

    @Override
    public int activeCalls() {
        int active = calls.active();
        for (MonitoredProgram part : parts) {
            active += part.activeCalls();
        }
        return active;
    }

    @Override
    public List<PendingCall> pendingCalls(int limit) {
        List<PendingCall> own = calls.describe(limit);
        if (parts.isEmpty()) {
            return own;
        }
        return Stream.concat(own.stream(), parts.stream().flatMap(part -> part.pendingCalls(limit).stream()))
                .sorted(Comparator.comparing(PendingCall::since).reversed())
                .limit(limit)
                .toList();
    }

    @Override
    public boolean cancelCall(long id) {
        return cancelWith(id, " by an operator");
    }

    @Override
    public boolean cancelCall(long id, String why) {
        return cancelWith(id, ": " + why);
    }

    private boolean cancelWith(long id, String how) {
        return calls.cancel(id, how) || parts.stream().anyMatch(part -> part.cancelWith(id, how));
    }

    @Override
    public TurnStatistics turns() {
        return parts.stream().map(MonitoredProgram::turns).reduce(calls.turns(), TurnStatistics::plus);
    }

    @Override
    public @Nullable IreeException failure() {
        IreeException failure = loaded.inPlace().failure();
        for (MonitoredProgram part : parts) {
            failure = failure == null ? part.failure() : failure;
        }
        return failure;
    }

    @Override
    public List<String> warnings() {
        return Stream.concat(loaded.warnings().stream(), parts.stream().flatMap(part -> part.warnings().stream()))
                .toList();
    }

    @Override
    public List<VmModule> modules() {
        return loaded.modules();
    }
}
