// SPDX-License-Identifier: MIT
// discovery.hpp - discoveries through SMPs or the SA, the subnet that they return, and the changes since an earlier discovery.
#pragma once
#include <comad/coro.hpp>
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/changes.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/discovery/walk/node_sequence.hpp>
