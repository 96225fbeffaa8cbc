//! Plans and results that are signed with keys that only `ssh-keygen` can use.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr};

use super::Fleet;

const PLAN: &str = "fleet plan --kind fake --store STORE --trials 5 --sign ROOT/";

/// A running `ssh-agent`. Dropping it ends the agent.
struct Agent {
    process: Child,
    socket: String,
}

impl Agent {
    fn start(fleet: &Fleet) -> Agent {
        let socket = fleet.path("agent").to_string_lossy().into_owned();
        let mut agent = Command::new("ssh-agent");
        agent.args(["-D", "-a", &socket]).stdout(Stdio::null());
        let process = agent.spawn().expect("ssh-agent should start");
        let listens = (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            fleet.path("agent").exists()
        });
        assert!(listens, "ssh-agent should listen");
        Agent { process, socket }
    }

    /// Adds a key to the agent, and removes the key's file.
    fn take(&self, fleet: &Fleet, key: &str) {
        let mut add = Command::new("ssh-add");
        add.env("SSH_AUTH_SOCK", &self.socket);
        expect_code(add.arg("-q").arg(fleet.path(key)), 0);
        std::fs::remove_file(fleet.path(key)).expect("the key should be there");
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `tune` for a user without an agent, and without a terminal on which `ssh-keygen` could ask.
fn alone(fleet: &Fleet, words: &str) -> Command {
    let mut tune = fleet.tune(words);
    for name in ["SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY"] {
        tune.env_remove(name);
    }
    tune.env("SSH_ASKPASS_REQUIRE", "never");
    tune
}

#[test]
fn a_plan_can_be_signed_with_a_key_that_only_an_agent_has() {
    let name = "a_plan_can_be_signed_with_a_key_that_only_an_agent_has";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[1_000]);
    let words = format!("{PLAN}planner.pub -o ROOT/fleet.plan");
    let agent = Agent::start(&fleet);
    agent.take(&fleet, "planner");
    let failed = expect_code(&mut alone(&fleet, &words), 1);
    let said = stderr(&failed);
    assert!(
        said.contains("ssh-keygen -Y sign") && said.contains("help: "),
        "{said}"
    );
    assert!(
        !fleet.path("fleet.plan").exists(),
        "half a plan should not stay"
    );
    let mut plan = alone(&fleet, &words);
    expect_code(plan.env("SSH_AUTH_SOCK", &agent.socket), 0);
    // The signature is one that the file of allowed signers accepts.
    expect_code(&mut fleet.work("fleet.plan", 0, "a"), 0);
    let mut push = alone(&fleet, "cache push STORE --sign ROOT/planner.pub");
    push.env("SSH_AUTH_SOCK", &agent.socket);
    let nothing = expect_code(&mut push, 1);
    assert!(
        stderr(&nothing).contains("nothing can be pushed"),
        "{}",
        stderr(&nothing)
    );
}

#[test]
fn a_passphrase_is_asked_for_as_ssh_keygen_does() {
    let name = "a_passphrase_is_asked_for_as_ssh_keygen_does";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[1_000]);
    let mut lock = Command::new("ssh-keygen");
    lock.args(["-q", "-p", "-N", "open sesame", "-f"]);
    expect_code(lock.arg(fleet.path("planner")), 0);
    let words = format!("{PLAN}planner -o ROOT/fleet.plan");
    let failed = expect_code(&mut alone(&fleet, &words), 1);
    let said = stderr(&failed);
    assert!(
        said.contains("ssh-keygen -Y sign") && said.contains("ssh-add"),
        "{said}"
    );
    let with = |answer: &str| {
        fleet.program("ask", &format!("echo '{answer}'"));
        let mut plan = alone(&fleet, &words);
        plan.env("SSH_ASKPASS", fleet.path("ask"));
        plan.env("SSH_ASKPASS_REQUIRE", "force");
        plan
    };
    let wrong = expect_code(&mut with("open barley"), 1);
    assert!(
        stderr(&wrong).contains("incorrect passphrase"),
        "{}",
        stderr(&wrong)
    );
    expect_code(&mut with("open sesame"), 0);
    expect_code(&mut fleet.work("fleet.plan", 0, "a"), 0);
}
