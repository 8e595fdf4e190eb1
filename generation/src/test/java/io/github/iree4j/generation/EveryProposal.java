package io.github.iree4j.generation;

/** Verifies every proposal, whatever it costs. */
final class EveryProposal extends Speculation {
    EveryProposal(int proposals) {
        super(proposals);
    }

    @Override
    boolean look(Entry verify, Entry decode) {
        return true;
    }
}
