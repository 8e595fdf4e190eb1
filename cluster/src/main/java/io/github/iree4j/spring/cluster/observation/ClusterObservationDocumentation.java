package io.github.iree4j.spring.cluster.observation;

import io.github.iree4j.api.NotForApplications;
import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** Documents the observations of a cluster. */
@NotForApplications
public enum ClusterObservationDocumentation implements ObservationDocumentation {
    /** A command of another node with a traced submitter: from the time when all waits are satisfied, to the end of the command. */
    COMMAND {
        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultCommandObservationConvention.class;
        }

        @Override
        public KeyName[] getLowCardinalityKeyNames() {
            return LowCardinality.values();
        }

        @Override
        public KeyName[] getHighCardinalityKeyNames() {
            return HighCardinality.values();
        }

        @Override
        public String getPrefix() {
            return "iree";
        }
    };

    /** Tags of metrics and spans. */
    public enum LowCardinality implements KeyName {
        /** The kind of command: execute, fill, copy, upload, download or update. */
        COMMAND("command"),
        /** Id of the device. */
        DEVICE("device"),
        /** Machine index of the submitting node. */
        MACHINE("machine"),
        /** Status code at the end, such as OK or ABORTED. */
        OUTCOME("outcome");

        private final String key;

        LowCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Tags of spans only. */
    public enum HighCardinality implements KeyName {
        /** The submitting node. */
        PEER("iree.peer"),
        /** Index of the queue. */
        QUEUE("iree.queue"),
        /** Number of the command's steps. */
        STEPS("iree.steps"),
        /** The submitter's timeline for the queue's commands here. */
        LANE("iree.lane"),
        /** The epoch that the command raises the lane to. */
        LANE_EPOCH("iree.lane.epoch");

        private final String key;

        HighCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }
}
