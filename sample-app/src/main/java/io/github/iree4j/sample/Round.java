package io.github.iree4j.sample;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.remote.NodeIdentity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a pipeline.
 *
 * @param nodes number of visited nodes
 * @param submitMillis duration of the submissions
 * @param millis duration of the whole run
 * @param stages the outcome of each stage
 */
record Round(int nodes, double submitMillis, double millis, List<Stage> stages) {
    /**
     * The outcome of a stage.
     *
     * @param stage the number of the stage, from 0
     * @param node the node of the stage
     * @param result the number written by the stage
     * @param axis the timeline of the stage's queue
     * @param epoch the value reached on this timeline
     */
    record Stage(int stage, String node, int result, String axis, long epoch) {
        static Stage of(int number, NodeIdentity node, int result, @Nullable Frontier frontier) {
            return frontier == null || !frontier.hasProducer()
                    ? new Stage(number, node.toString(), result, "", 0)
                    : new Stage(
                            number,
                            node.toString(),
                            result,
                            Axis.toString(frontier.producerAxis()),
                            frontier.producerEpoch());
        }
    }

    /**
     * The outcome of a pipeline.
     *
     * @param began when the first stage was submitted, in nanoseconds as the other two
     * @param submitted when all stages were submitted
     * @param ended when the last stage ended
     */
    static Round of(long began, long submitted, long ended, List<Stage> stages) {
        long nodes = stages.stream().map(Stage::node).distinct().count();
        return new Round((int) nodes, (submitted - began) / 1e6, (ended - began) / 1e6, stages);
    }
}
