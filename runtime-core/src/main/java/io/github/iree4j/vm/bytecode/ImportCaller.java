package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;

/** Calls native imports, for one stack. */
final class ImportCaller {
    private final Execution execution;
    private final ImportCall importCall;

    /** Whether the top frame is at a call of a deferred import. */
    private boolean pending;

    ImportCaller(Execution execution) {
        this.execution = execution;
        importCall = new ImportCall(execution);
    }

    /**
     * Calls an import, or repeats the call after the import has deferred.
     *
     * @return false when the import has deferred; the same instruction must then be executed again
     */
    boolean call(LinkedImport target, CallSite site, Frame caller) {
        ImportCall call = importCall;
        boolean again = pending;
        pending = false;
        call.enter(target.function(), site, again, caller);
        boolean done = false;
        try {
            target.target().call(call);
            done = call.leave();
        } catch (IreeException e) {
            call.giveUp();
            throw e;
        } catch (RuntimeException e) {
            call.giveUp();
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "'%s' failed unexpectedly: %s".formatted(target.function().fullName(), e),
                    e);
        }
        if (!done) {
            pending = true;
            execution.root().defer(call.waiting());
            return false;
        }
        if (site.onlyWord >= 0) {
            caller.words[site.onlyWord] = (int) call.word(0);
        } else {
            finish(call, site, caller);
        }
        return true;
    }

    /** Releases references consumed by a call, and sets the results of the call. */
    private static void finish(ImportCall call, CallSite site, Frame caller) {
        for (int operand : site.argumentRefs) {
            if ((operand & Code.MOVE) != 0) {
                References.put(caller.refs, operand & ~Code.MOVE, null);
            }
        }
        char[] letters = site.resultLetters;
        for (int i = 0; i < letters.length; i++) {
            switch (letters[i]) {
                case 'i', 'f' -> caller.words[site.results[i]] = (int) call.word(i);
                case 'I', 'F' -> Interpreter.putLong(caller.words, site.results[i], call.word(i));
                default -> References.put(caller.refs, site.results[i] & ~Code.MOVE, call.take(i));
            }
        }
    }

    /** Abandons a deferred call. */
    void giveUp() {
        if (pending) {
            pending = false;
            importCall.giveUp();
        }
    }

    /** Forgets a failed call. The call has already been abandoned. */
    void forget() {
        pending = false;
    }
}
