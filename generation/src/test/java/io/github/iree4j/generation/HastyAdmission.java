package io.github.iree4j.generation;

import io.github.iree4j.generation.PrefixTree.Node;
import java.util.Collection;
import java.util.List;

/** Lets a sequence begin with pages for its next token only: sequences soon lose their pages. */
final class HastyAdmission extends Admission {
    @Override
    boolean suffices(StepShapes shapes, Collection<Sequence> running, Sequence next, List<Node> known, int available) {
        return available >= shapes.pagesFor(Math.min(next.length() + 1, next.mostTokens())) - known.size();
    }
}
