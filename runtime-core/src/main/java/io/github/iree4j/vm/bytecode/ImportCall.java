package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmWait;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import org.jspecify.annotations.Nullable;

/** A call of a native function with the caller's registers as arguments. */
final class ImportCall extends VmCall {
    private final Execution execution;

    ImportCall(Execution execution) {
        this.execution = execution;
    }

    void enter(VmFunction function, CallSite site, boolean again, Frame caller) {
        if (!again) {
            attach(null);
        }
        bind(caller.words, 0, caller.refs, 0);
        begin(function, site.letters, site.operands, site.letters.length, again);
    }

    boolean leave() {
        return end();
    }

    VmWait waiting() {
        VmWait wait = pendingWait();
        return wait == null ? VmWait.NONE : wait;
    }

    long word(int index) {
        return resultWord(index);
    }

    @Nullable
    Object take(int index) {
        return takeResultRef(index);
    }

    void giveUp() {
        abandon();
    }

    @Override
    protected VmCall root() {
        return execution.root();
    }

    @Override
    public String calledAs() {
        return execution.root().calledAs();
    }

    @Override
    public boolean isCancelled() {
        return execution.root().isCancelled();
    }
}
